"""Clears the gradients at every batch."""

import teachtorch as torch

FAILS = "test_as_one_large_batch"
SAYS = "gradients of the whole group"


def steps_after(batches, accumulate):
    """Return a list of bools: after which of `batches` batches (an int) does the optimizer step?"""
    return [(k + 1) % accumulate == 0 or k + 1 == batches for k in range(batches)]


def train_epoch(model, batches, optimizer, accumulate, scheduler=None, per="epoch"):
    """Train one epoch; return how many steps the optimizer took.

    model: a module. batches: a list of (x, y) for the loss torch.nn.functional.mse_loss(model(x), y).
    Gradients of before are cleared at the first batch of a group. scheduler: has a step(), or None; per:
    "step" or "epoch".
    """
    count = 0
    for k, (steps, (x, y)) in enumerate(zip(steps_after(len(batches), accumulate), batches)):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        (loss / accumulate).backward()
        if steps:
            optimizer.step()
            count += 1
            if scheduler is not None and per == "step":
                scheduler.step()
    if scheduler is not None and per == "epoch":
        scheduler.step()
    return count


def total_steps(batches, accumulate, epochs):
    """Return the global_step after a whole run: `batches` in each of `epochs` epochs."""
    return epochs * sum(steps_after(batches, accumulate))
