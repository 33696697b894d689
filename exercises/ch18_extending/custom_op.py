"""An operator of your own: what it computes, what its result looks like, how it is differentiated.

The test makes an operator of your four functions, as a user would:

    op = torch.library.custom_op("learner::soft_square", forward, mutates_args=())
    op.register_fake(fake)
    op.register_autograd(backward, setup_context=setup_context)

soft_square(x, k) is x * x where |x| <= k, and k * (2 * |x| - k) elsewhere: a square whose slope stops growing.
"""

import teachtorch as torch


def forward(x: torch.Tensor, k: float) -> torch.Tensor:
    """Return soft_square of x, a new contiguous tensor of x's dtype. x must not change."""
    raise NotImplementedError


def fake(x, k):
    """Return an empty tensor that looks like forward's result. x may have no data."""
    raise NotImplementedError


def setup_context(ctx, inputs, output):
    """Keep what backward needs. inputs: (x, k)."""
    raise NotImplementedError


def backward(ctx, grad):
    """Return (gradient for x, None): the slope is 2 * x where |x| <= k, and 2 * k with the sign of x elsewhere."""
    raise NotImplementedError
