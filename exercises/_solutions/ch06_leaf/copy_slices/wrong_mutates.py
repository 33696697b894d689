"""Writes into the incoming gradient."""

import numpy as np

FAILS = "test_does_not_mutate"
SAYS = "others may hold it"


def copy_slices(grad, key, backward):
    grad_base = grad
    grad_view, *others = backward(grad[key].copy())
    grad_base[key] = 0 if grad_view is None else grad_view
    return grad_base, others


def scale_backward(factor):
    return lambda grad: (grad * factor,)


def copy_backward():
    return lambda grad: (None, grad)
