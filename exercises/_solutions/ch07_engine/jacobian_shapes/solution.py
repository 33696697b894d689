"""jacobian and hessian: shapes, nesting, and what must stay differentiable.

A backward gives v J for one gradient v of an output. With v a one in one place and zeros elsewhere it gives
one row of the Jacobian; a row for each element of the output makes the whole.

    output of shape (2,), input of shape (3, 4)      Jacobian of shape (2, 3, 4): output's, then input's
    several outputs or several inputs                a tuple for each output, of one Jacobian for each input

    jacobian(f, (x, y)) for f returning (a, b)       ((da/dx, da/dy), (db/dx, db/dy))

The Hessian is the Jacobian of the gradient, so the gradient must itself have a graph (`create_graph`).
"""

import teachtorch as torch


def jacobian(function, inputs, create_graph=False):
    """Return the Jacobian of function at inputs, nested as described.

    function: takes one tensor for each input, and returns a tensor or a tuple of tensors. inputs: a tensor
    or a tuple of tensors; they are left as they are. Where an output does not depend on an input, the
    Jacobian is zeros. create_graph: whether the result can be differentiated again with respect to the
    inputs, which then must require a gradient themselves. Outer tuple only for a tuple of outputs, inner
    only for a tuple of inputs.
    """
    # solution
    many = isinstance(inputs, tuple)
    given = inputs if many else (inputs,)
    leaves = given if create_graph else tuple(each.detach().requires_grad_() for each in given)
    outputs = function(*leaves)
    if isinstance(outputs, tuple):
        return tuple(_nested(_of_output(each, leaves, create_graph), many) for each in outputs)
    return _nested(_of_output(outputs, leaves, create_graph), many)
    # end of solution


def hessian(function, x):
    """Return the Hessian, of shape x.shape + x.shape. function: a tensor to a tensor of one element."""
    # solution
    x = x.detach().requires_grad_()
    return jacobian(
        lambda x: jacobian(function, x, create_graph=True).reshape(x.shape), x, create_graph=True
    ).detach()
    # end of solution


# solution
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
        allow_unused=True,
        materialize_grads=True,
    )


def _nested(jacobians, many):
    return jacobians if many else jacobians[0]


# end of solution
