"""Measures by the backward's value."""

import numpy as np

FAILS = "test_tolerances"
SAYS = "rtol is a part of the numerical value"


def numerical_jacobian(f, x, eps=1e-6):
    columns = []
    for position in range(x.size):
        step = np.zeros_like(x)
        step[position] = eps
        columns.append((f(x + step) - f(x - step)) / (2 * eps))
    return np.stack(columns, axis=1)


def gradcheck(f, backward, x, atol=1e-5, rtol=1e-3):
    numerical = numerical_jacobian(f, x)
    ones = np.eye(numerical.shape[0])
    first = np.stack([backward(x, grad) for grad in ones])
    second = np.stack([backward(x, grad) for grad in ones])
    agrees = np.abs(first - numerical) <= atol + rtol * np.abs(first)
    return bool(agrees.all() and np.array_equal(first, second))
