"""The slope outside is 2, whatever k is."""

import teachtorch as torch

FAILS = "test_gradient"
SAYS = "k = 2.5"


def forward(x: torch.Tensor, k: float) -> torch.Tensor:
    x = x.contiguous()
    return torch.where(x.abs() <= k, x * x, k * (2 * x.abs() - k))


def fake(x, k):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def setup_context(ctx, inputs, output):
    x, ctx.k = inputs
    ctx.save_for_backward(x)


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * 2 * x.clamp(-1.0, 1.0), None
