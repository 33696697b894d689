"""Gradient accumulation: one optimizer step for several batches.

With accumulate=n the gradients of n batches add up before one step, as if they were one batch n times as
large. So that the gradient is that of the mean, each loss is divided by n. If the number of batches is no
multiple of n, the last group is smaller; it steps all the same (and its losses are divided by n, as
Lightning's Trainer does). global_step counts optimizer steps, not batches. A scheduler "per step" steps after
each optimizer step, a scheduler "per epoch" once, after the last batch.
"""

import teachtorch as torch


def steps_after(batches, accumulate):
    """Return a list of bools: after which of `batches` batches (an int) does the optimizer step?"""
    raise NotImplementedError


def train_epoch(model, batches, optimizer, accumulate, scheduler=None, per="epoch"):
    """Train one epoch; return how many steps the optimizer took.

    model: a module. batches: a list of (x, y) for the loss torch.nn.functional.mse_loss(model(x), y).
    Gradients of before are cleared at the first batch of a group. scheduler: has a step(), or None; per:
    "step" or "epoch".
    """
    raise NotImplementedError


def total_steps(batches, accumulate, epochs):
    """Return the global_step after a whole run: `batches` in each of `epochs` epochs."""
    raise NotImplementedError
