"""Broadcasts the index over the other dimensions."""

import numpy as np

FAILS = "test_smaller_index"
SAYS = "the shape of index"


def gather(input, dim, index):
    if index.ndim != input.ndim:
        raise RuntimeError("gather")
    shape = [max(a, b) if d != dim else b for d, (a, b) in enumerate(zip(input.shape, index.shape))]
    if all(b in (a, 1) for d, (a, b) in enumerate(zip(input.shape, index.shape)) if d != dim):
        index = np.broadcast_to(index, shape)
    if not all(index.shape[d] <= input.shape[d] for d in range(input.ndim) if d != dim):
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
