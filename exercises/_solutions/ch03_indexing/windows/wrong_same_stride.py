"""Forgets the step in the stride between windows."""

import numpy as np

FAILS = "test_step"
SAYS = "2 slots after the one before"


def unfold(sizes, strides, dim, size, step):
    if size > sizes[dim] or step < 1:
        raise RuntimeError("unfold")
    new_sizes, new_strides = list(sizes), list(strides)
    new_sizes[dim] = (sizes[dim] - size) // step + 1
    new_strides[dim] = strides[dim]
    return (*new_sizes, size), (*new_strides, strides[dim])


def unfold_backward(grad, length, step):
    result = np.zeros(length, grad.dtype)
    for window, row in enumerate(grad):
        start = window * step
        result[start : start + len(row)] += row
    return result
