"""Passes on the slice's gradient only."""

import numpy as np

FAILS = "test_outside"
SAYS = "their gradient goes through"


def copy_slices(grad, key, backward):
    grad_base = np.zeros_like(grad)
    grad_view, *others = backward(grad[key].copy())
    grad_base[key] = 0 if grad_view is None else grad_view
    return grad_base, others


def scale_backward(factor):
    return lambda grad: (grad * factor,)


def copy_backward():
    return lambda grad: (None, grad)
