"""Divides the product by each element."""

import numpy as np
import teachtorch as torch

FAILS = "test_prod_zeros"
SAYS = "out / x is 0 / 0"


def max_backward(grad, x):
    largest = x == x.max()
    return grad * largest / largest.sum()


def abs_backward(grad, x):
    return grad * np.sign(x)


def clamp_backward(grad, x, low, high):
    return grad * ((x >= low) & (x <= high))


def prod_backward(grad, x):
    return grad * x.prod() / x


def log_or_zero(x):
    positive = x > 0
    harmless = torch.where(positive, x, torch.ones_like(x))
    return torch.where(positive, harmless.log(), torch.zeros_like(x))
