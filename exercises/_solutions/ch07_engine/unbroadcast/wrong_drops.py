"""Lets a dimension of size 1 vanish."""

import numpy as np

FAILS = "test_keeps_dimensions_of_size_1"
SAYS = "the shape is (3,), expected (3, 1)"


def unbroadcast(grad, shape):
    added = grad.ndim - len(shape)
    grown = [added + dim for dim, size in enumerate(shape) if size == 1 and grad.shape[added + dim] != 1]
    return np.asarray(grad.sum(axis=(*range(added), *grown)))
