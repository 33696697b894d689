"""Asks for the gradients of the inputs only."""

import teachtorch as torch

FAILS = "test_parameters"
SAYS = "all the way to the leaves"


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
        after = torch.get_rng_state()
        torch.set_rng_state(ctx.random)
        with torch.enable_grad():
            output = ctx.run(*inputs)
        torch.set_rng_state(after)
        wanted = [each for each in inputs if each.requires_grad]
        grads = iter(torch.autograd.grad(output, wanted, grad))
        return None, *(next(grads) if each.requires_grad else None for each in inputs)
