"""Steps after every batch."""

import teachtorch as torch

FAILS = "test_groups"
SAYS = "groups of"


def steps_after(batches, accumulate):
    """Return a list of bools: after which of `batches` batches (an int) does the optimizer step?"""
    return [True] * batches


def train_epoch(model, batches, optimizer, accumulate, scheduler=None, per="epoch"):
    """Train one epoch; return how many steps the optimizer took.

    model: a module. batches: a list of (x, y) for the loss torch.nn.functional.mse_loss(model(x), y).
    Gradients of before are cleared at the first batch of a group. scheduler: has a step(), or None; per:
    "step" or "epoch".
    """
    count = 0
    for k, (steps, (x, y)) in enumerate(zip(steps_after(len(batches), accumulate), batches)):
        loss = torch.nn.functional.mse_loss(model(x), y)
        if k % accumulate == 0:
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
