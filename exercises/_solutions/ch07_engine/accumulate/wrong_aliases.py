"""Keeps the incoming array itself."""

FAILS = "test_first_is_a_copy"
SAYS = "writes into"


def accumulate_grad(variable, new_grad, create_graph=False):
    if new_grad is None:
        return
    if variable.grad is None:
        variable.grad = new_grad
    elif create_graph:
        variable.grad = variable.grad + new_grad
    else:
        variable.grad += new_grad
