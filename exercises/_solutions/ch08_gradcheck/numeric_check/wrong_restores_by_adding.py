"""Moves x itself, and goes back by the same steps."""

import numpy as np

FAILS = "test_restores"
SAYS = "keep the old number"


def numerical_jacobian(f, x, eps=1e-6):
    columns = []
    for position in range(x.size):
        x[position] += eps
        above = f(x).copy()
        x[position] -= 2 * eps
        below = f(x).copy()
        x[position] += eps
        columns.append((above - below) / (2 * eps))
    return np.stack(columns, axis=1)


def gradcheck(f, backward, x, atol=1e-5, rtol=1e-3):
    numerical = numerical_jacobian(f, x)
    outputs = numerical.shape[0]
    ones = np.eye(outputs)
    first = np.stack([backward(x, grad) for grad in ones])
    second = np.stack([backward(x, grad) for grad in ones])
    agrees = np.abs(first - numerical) <= atol + rtol * np.abs(numerical)
    return bool(agrees.all() and np.array_equal(first, second))
