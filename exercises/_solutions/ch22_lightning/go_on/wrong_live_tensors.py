"""Keeps the live tensors, which the next step changes."""

import teachtorch as torch

FAILS = "test_copies"
SAYS = "copies"


def save(model, optimizer, scheduler, epoch):
    """Return a dict with everything that the next epoch needs, as it is now: later changes must not reach it.

    model: a module. optimizer: has one group, of all parameters of the model. scheduler: one of
    torch.optim.lr_scheduler. epoch: the number of epochs completed.
    """
    names = {id(p): name for name, p in model.named_parameters()}
    state = {names[id(p)]: copied(values) for p, values in optimizer.state.items()}
    options = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
    return {
        "epoch": epoch,
        "model": copied(model.state_dict()),
        "optimizer": state,
        "options": options,
        "scheduler": copied(scheduler.state_dict()),
        "random": torch.get_rng_state(),
    }


def restore(checkpoint, model, optimizer, scheduler):
    """Put everything back, and return the number of epochs completed.

    model, optimizer, scheduler: fresh ones, as in save; the optimizer may hold the parameters in another
    order.
    """
    model.load_state_dict(checkpoint["model"])
    for name, p in model.named_parameters():
        if name in checkpoint["optimizer"]:
            optimizer.state[p] = copied(checkpoint["optimizer"][name])
    optimizer.param_groups[0].update(checkpoint["options"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    torch.set_rng_state(checkpoint["random"])
    return checkpoint["epoch"]


def copied(values):
    """A dict with its tensors cloned."""
    return {key: value for key, value in values.items()}
