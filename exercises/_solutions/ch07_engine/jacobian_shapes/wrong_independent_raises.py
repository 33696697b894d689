"""Does not allow for an unused input."""

import teachtorch as torch

FAILS = "test_independent"
SAYS = "your code raised RuntimeError"


def jacobian(function, inputs, create_graph=False):
    many = isinstance(inputs, tuple)
    given = inputs if many else (inputs,)
    leaves = given if create_graph else tuple(each.detach().requires_grad_() for each in given)
    outputs = function(*leaves)
    if isinstance(outputs, tuple):
        return tuple(_nested(_of_output(each, leaves, create_graph), many) for each in outputs)
    return _nested(_of_output(outputs, leaves, create_graph), many)


def hessian(function, x):
    x = x.detach().requires_grad_()
    return jacobian(
        lambda x: jacobian(function, x, create_graph=True).reshape(x.shape), x, create_graph=True
    ).detach()


def _of_output(output, inputs, create_graph):
    rows = [_row(output, place, inputs, create_graph) for place in range(output.numel())]
    return tuple(
        torch.stack(column).reshape(tuple(output.shape) + tuple(x.shape))
        for column, x in zip(zip(*rows), inputs)
    )


def _row(output, place, inputs, create_graph):
    if not output.requires_grad:
        return [torch.zeros_like(x) for x in inputs]
    one = torch.zeros_like(output).reshape(-1)
    one[place] = 1
    return torch.autograd.grad(
        output,
        inputs,
        one.reshape(output.shape),
        retain_graph=True,
        create_graph=create_graph,
    )


def _nested(jacobians, many):
    return jacobians if many else jacobians[0]
