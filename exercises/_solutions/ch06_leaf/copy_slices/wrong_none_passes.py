"""Takes an undefined gradient for an unchanged one."""

import numpy as np

FAILS = "test_none"
SAYS = "no influence any more"


def copy_slices(grad, key, backward):
    grad_base = grad.copy()
    grad_view, *others = backward(grad[key].copy())
    if grad_view is not None:
        grad_base[key] = grad_view
    return grad_base, others


def scale_backward(factor):
    return lambda grad: (grad * factor,)


def copy_backward():
    return lambda grad: (None, grad)
