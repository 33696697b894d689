"""Copies the incoming gradient with its own strides."""

FAILS = "test_layout"
SAYS = "strides of the parameter"


def accumulate_grad(variable, new_grad, create_graph=False):
    if new_grad is None:
        return
    if variable.grad is None:
        variable.grad = new_grad.copy(order="C")
    elif create_graph:
        variable.grad = variable.grad + new_grad
    else:
        variable.grad += new_grad
