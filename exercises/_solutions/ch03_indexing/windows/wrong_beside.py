"""Puts the place inside the window right behind the windows."""

import numpy as np

FAILS = "test_last"
SAYS = "comes last"


def unfold(sizes, strides, dim, size, step):
    if size > sizes[dim] or step < 1:
        raise RuntimeError("unfold")
    new_sizes, new_strides = list(sizes), list(strides)
    new_sizes[dim] = (sizes[dim] - size) // step + 1
    new_strides[dim] = strides[dim] * step
    at = dim % len(sizes) + 1
    new_sizes.insert(at, size)
    new_strides.insert(at, strides[dim])
    return tuple(new_sizes), tuple(new_strides)


def unfold_backward(grad, length, step):
    result = np.zeros(length, grad.dtype)
    for window, row in enumerate(grad):
        start = window * step
        result[start : start + len(row)] += row
    return result
