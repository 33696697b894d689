"""Functions of your own, that can be differentiated once, or twice.

The backward of an `autograd.Function` is a formula made of operations. With `create_graph=True` these
operations are recorded like any others, so a backward of the backward works, *if* all of them are recorded:
a formula that uses NumPy, `.detach()` or `.data` looks like a constant from outside. Its second derivative
would be silently wrong. Such a backward says so: with `@once_differentiable` above it, a second
differentiation raises.

What the backward needs of inputs and results goes through `ctx.save_for_backward`: then it is freed after the
backward, and a change in place is noticed. Other things, like numbers, are attributes of ctx.

The backward returns one gradient for each argument of the forward, None for what is no tensor.
"""

import numpy as np
import teachtorch as torch


class Cube(torch.autograd.Function):
    """x ** 3, differentiable as often as you like."""

    @staticmethod
    def forward(ctx, x):
        """x: a tensor."""
        # solution
        ctx.save_for_backward(x)
        return x * x * x
        # end of solution

    @staticmethod
    def backward(ctx, grad):
        """The gradient of x."""
        # solution
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x
        # end of solution


class Scale(torch.autograd.Function):
    """x * factor, where factor is a Python number."""

    @staticmethod
    def forward(ctx, x, factor):
        """x: a tensor. factor: a number, which gets no gradient."""
        # solution
        ctx.factor = factor
        return x * factor
        # end of solution

    @staticmethod
    def backward(ctx, grad):
        """The gradient of each argument."""
        # solution
        return grad * ctx.factor, None
        # end of solution


class NumpySin(torch.autograd.Function):
    """sin(x), computed by NumPy in both directions. To differentiate it a second time raises."""

    @staticmethod
    def forward(ctx, x):
        """x: a tensor on the CPU."""
        # solution
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.detach().numpy()))
        # end of solution

    @staticmethod
    def backward(ctx, grad):
        """The gradient of x: see below. It is complete."""
        return sin_backward(ctx, grad)


# solution
@torch.autograd.function.once_differentiable
# end of solution
def sin_backward(ctx, grad):
    """The backward of NumpySin, by NumPy: grad * cos(x). It needs a line above its `def`, too."""
    # solution
    (x,) = ctx.saved_tensors
    return grad * torch.from_numpy(np.cos(x.detach().numpy()))
    # end of solution
