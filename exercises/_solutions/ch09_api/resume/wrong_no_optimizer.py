"""Forgets what the optimizer remembers."""

import copy

import teachtorch as torch

FAILS = "test_momentum"
SAYS = "momentum"


def checkpoint(model, optimizer, scheduler, epoch):
    """Everything that training needs to go on after `epoch`, as a dict that torch.save and torch.load can take.

    It is a snapshot: training that goes on afterwards does not change it. (The tensors of a state_dict are the live ones.)
    """
    return copy.deepcopy({
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "epoch": epoch,
    })


def resume(saved, model, optimizer, scheduler):
    """Put the state of a checkpoint into these new objects, and return the number of the next epoch."""
    model.load_state_dict(saved["model"])
    scheduler.load_state_dict(saved["scheduler"])
    torch.set_rng_state(saved["rng"])
    return saved["epoch"] + 1
