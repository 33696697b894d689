"""Counts one window too few."""

import numpy as np

FAILS = "test_count"
SAYS = "windows begin at 0, 1 and 2"


def unfold(sizes, strides, dim, size, step):
    if size > sizes[dim] or step < 1:
        raise RuntimeError("unfold")
    new_sizes, new_strides = list(sizes), list(strides)
    new_sizes[dim] = max(1, (sizes[dim] - size) // step)
    new_strides[dim] = strides[dim] * step
    return (*new_sizes, size), (*new_strides, strides[dim])


def unfold_backward(grad, length, step):
    result = np.zeros(length, grad.dtype)
    for window, row in enumerate(grad):
        start = window * step
        result[start : start + len(row)] += row
    return result
