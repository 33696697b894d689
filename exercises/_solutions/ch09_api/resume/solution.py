"""A checkpoint from which training goes on as if it had never stopped.

    epoch 0   epoch 1   | checkpoint |   epoch 2   epoch 3        one run
                        '----> resume in a new process: epoch 2   epoch 3     the same losses, to the last digit

What does the next step depend on? The weights and the buffers; what the optimizer remembers (momentum, moments, counts);
where the schedule is; and the random numbers to come, for dropout and shuffling.
"""

import copy

import teachtorch as torch


def checkpoint(model, optimizer, scheduler, epoch):
    """Everything that training needs to go on after `epoch`, as a dict that torch.save and torch.load can take.

    It is a snapshot: training that goes on afterwards does not change it. (The tensors of a state_dict are the live ones.)
    """
    # solution
    return copy.deepcopy({
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "epoch": epoch,
    })
    # end of solution


def resume(saved, model, optimizer, scheduler):
    """Put the state of a checkpoint into these new objects, and return the number of the next epoch."""
    # solution
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    torch.set_rng_state(saved["rng"])
    return saved["epoch"] + 1
    # end of solution
