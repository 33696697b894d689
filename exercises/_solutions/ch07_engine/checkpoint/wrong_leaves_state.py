"""Leaves the random numbers where the second run ended."""

import teachtorch as torch

FAILS = "test_random_after"
SAYS = "took the state back"


def checkpoint(function, *inputs):
    return Checkpoint.apply(function, *inputs)


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, *inputs):
        ctx.run, ctx.random = function, torch.get_rng_state()
        ctx.save_for_backward(*inputs)
        return function(*inputs)

    @staticmethod
    def backward(ctx, grad):
        inputs = [each.detach().requires_grad_(each.requires_grad) for each in ctx.saved_tensors]
        torch.set_rng_state(ctx.random)
        with torch.enable_grad():
            output = ctx.run(*inputs)
        torch.autograd.backward(output, grad)
        return None, *(each.grad for each in inputs)
