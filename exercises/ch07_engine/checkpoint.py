"""Checkpointing: compute again instead of keeping.

A graph holds what each operation saved until the backward has used it: for a deep network that is most of
its memory. A checkpointed part keeps its inputs only. Its forward records nothing, and its backward first
runs the same function again, this time recorded, and then goes backward through that:

    forward     x ---> [ function, not recorded ] ---> y            saved: x
    backward    x ---> [ function, recorded     ] ---> y again      and backward from there, with y's gradient

The second run must give the same y as the first. So if the function draws random numbers (dropout), they
must be the same ones; and the program's own random numbers must go on as if there had been no second run.

Inside `forward` and `backward` of a Function grad mode is off. `torch.get_rng_state()` gives the state of
the random numbers, `torch.set_rng_state(state)` sets it.
"""

import teachtorch as torch


def checkpoint(function, *inputs):
    """Return function(*inputs), a tensor, of which only the inputs are kept for the backward. It is complete.

    inputs: tensors, of which at least one requires a gradient. Parameters that the function uses besides get
    their gradients too.
    """
    return Checkpoint.apply(function, *inputs)


class Checkpoint(torch.autograd.Function):
    """Runs a function twice: in the forward without recording, in the backward with it."""

    @staticmethod
    def forward(ctx, function, *inputs):
        """Return function(*inputs), and keep what the backward needs to run it again."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad):
        """Run the function again and go backward through it; one gradient for each argument of forward."""
        raise NotImplementedError
