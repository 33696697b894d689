"""Assigns instead of accumulating."""

import numpy as np

FAILS = "test_second_adds"
SAYS = "1 + 10"


def accumulate_grad(variable, new_grad, create_graph=False):
    if new_grad is not None:
        variable.grad = np.empty_like(variable.data)
        variable.grad[...] = new_grad
