"""Adds in place under create_graph too."""

import numpy as np

FAILS = "test_create_graph"
SAYS = "part of a graph"


def accumulate_grad(variable, new_grad, create_graph=False):
    if new_grad is None:
        return
    if variable.grad is None:
        variable.grad = np.empty_like(variable.data)
        variable.grad[...] = new_grad
    else:
        variable.grad += new_grad
