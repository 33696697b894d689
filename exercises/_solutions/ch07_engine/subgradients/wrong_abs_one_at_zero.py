"""Gives abs the slope 1 at 0."""

import numpy as np
import teachtorch as torch

FAILS = "test_abs"
SAYS = "PyTorch takes the middle"


def max_backward(grad, x):
    largest = x == x.max()
    return grad * largest / largest.sum()


def abs_backward(grad, x):
    return np.where(x >= 0, grad, -grad)


def clamp_backward(grad, x, low, high):
    return grad * ((x >= low) & (x <= high))


def prod_backward(grad, x):
    before = np.cumprod(np.concatenate([[1.0], x[:-1]]))
    after = np.cumprod(np.concatenate([[1.0], x[:0:-1]]))[::-1]
    return grad * before * after


def log_or_zero(x):
    positive = x > 0
    harmless = torch.where(positive, x, torch.ones_like(x))
    return torch.where(positive, harmless.log(), torch.zeros_like(x))
