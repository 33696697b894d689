"""Uses a detached value in the backward."""

import numpy as np
import teachtorch as torch

FAILS = "test_cube_twice"
SAYS = "the second derivative of Cube, 6x"


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x.detach()


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


class NumpySin(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    def backward(ctx, grad):
        return sin_backward(ctx, grad)


@torch.autograd.function.once_differentiable
def sin_backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * torch.from_numpy(np.cos(x.detach().numpy()))
