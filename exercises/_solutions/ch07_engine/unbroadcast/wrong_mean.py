"""Takes the mean of the uses instead of their sum."""

import numpy as np

FAILS = "test_added_in_front"
SAYS = "add up"


def unbroadcast(grad, shape):
    added = grad.ndim - len(shape)
    grown = [added + dim for dim, size in enumerate(shape) if size == 1]
    uses = max(grad.size, 1) // max(int(np.prod(shape)), 1)
    total = grad.sum(axis=(*range(added), *grown), keepdims=True) / max(uses, 1)
    return total.reshape(shape).astype(grad.dtype)
