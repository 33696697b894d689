"""Always makes a new array, so an old reference goes stale."""

import numpy as np

FAILS = "test_same_array"
SAYS = "the same array"


def accumulate_grad(variable, new_grad, create_graph=False):
    if new_grad is None:
        return
    if variable.grad is None:
        variable.grad = np.empty_like(variable.data)
        variable.grad[...] = new_grad
    else:
        variable.grad = variable.grad + new_grad
