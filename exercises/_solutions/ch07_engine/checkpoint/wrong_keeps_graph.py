"""Records the first run and keeps it."""

import teachtorch as torch

FAILS = "test_memory"
SAYS = "must record nothing"


def checkpoint(function, *inputs):
    return Checkpoint.apply(function, *inputs)


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, *inputs):
        ctx.inputs = [each.detach().requires_grad_(each.requires_grad) for each in inputs]
        with torch.enable_grad():
            ctx.output = function(*ctx.inputs)
        return ctx.output.detach()

    @staticmethod
    def backward(ctx, grad):
        torch.autograd.backward(ctx.output, grad)
        return None, *(each.grad for each in ctx.inputs)
