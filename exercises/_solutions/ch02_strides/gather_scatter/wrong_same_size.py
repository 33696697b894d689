"""Demands that the index is not longer than the input along dim."""

import numpy as np

FAILS = "test_longer_along_dim"
SAYS = "your code raised RuntimeError"


def gather(input, dim, index):
    if index.ndim != input.ndim:
        raise RuntimeError("gather")
    if not all(index.shape[d] <= input.shape[d] for d in range(input.ndim)):
        raise RuntimeError("gather")
    if index.size and not (0 <= index.min() and index.max() < input.shape[dim]):
        raise IndexError("gather")
    return input[places(dim, index)]


def gather_backward(grad, input_shape, dim, index):
    result = np.zeros(input_shape, grad.dtype)
    np.add.at(result, places(dim, index), grad)
    return result


def places(dim, index):
    found = list(np.indices(index.shape))
    found[dim] = index
    return tuple(found)
