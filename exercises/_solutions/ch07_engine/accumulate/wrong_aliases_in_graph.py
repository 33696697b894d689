"""Keeps the incoming array itself under create_graph."""

import numpy as np

FAILS = "test_first_is_a_copy"
SAYS = "with create_graph=True too"


def accumulate_grad(variable, new_grad, create_graph=False):
    if new_grad is None:
        return
    if create_graph:
        variable.grad = new_grad if variable.grad is None else variable.grad + new_grad
    elif variable.grad is None:
        variable.grad = np.empty_like(variable.data)
        variable.grad[...] = new_grad
    else:
        variable.grad += new_grad
