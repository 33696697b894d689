"""Both results have the strides of x."""

import teachtorch as torch

FAILS = "test_new"
SAYS = "contiguous whatever x looks like"


def forward(x: torch.Tensor, k: float) -> torch.Tensor:
    return torch.where(x.abs() <= k, x * x, k * (2 * x.abs() - k))


def fake(x, k):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    x, ctx.k = inputs
    ctx.save_for_backward(x)


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * 2 * x.clamp(-ctx.k, ctx.k), None
