"""Passes the gradient through, without the operation's backward."""

import numpy as np

FAILS = "test_inside"
SAYS = "twice that of the new one"


def copy_slices(grad, key, backward):
    grad_base = grad.copy()
    grad_view, *others = backward(grad[key].copy())
    if grad_view is None:
        grad_base[key] = 0
    return grad_base, others


def scale_backward(factor):
    return lambda grad: (grad * factor,)


def copy_backward():
    return lambda grad: (None, grad)
