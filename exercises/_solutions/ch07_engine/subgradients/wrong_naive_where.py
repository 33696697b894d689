"""Takes the log of everything and then selects."""

import numpy as np
import teachtorch as torch

FAILS = "test_log_gradient"
SAYS = "0 * inf is nan"


def max_backward(grad, x):
    largest = x == x.max()
    return grad * largest / largest.sum()


def abs_backward(grad, x):
    return grad * np.sign(x)


def clamp_backward(grad, x, low, high):
    return grad * ((x >= low) & (x <= high))


def prod_backward(grad, x):
    before = np.cumprod(np.concatenate([[1.0], x[:-1]]))
    after = np.cumprod(np.concatenate([[1.0], x[:0:-1]]))[::-1]
    return grad * before * after


def log_or_zero(x):
    positive = x > 0
    return torch.where(positive, x.log(), torch.zeros_like(x))
