"""A checkpoint from which training goes on as if nothing had happened, bit for bit.

The model has dropout, and the batches are shuffled, so random numbers matter. The optimizer (Adam) has
averages for each parameter. When training goes on, in another process, the optimizer may hold the same
parameters in another order: so its state is kept by the parameters' names.
"""

import teachtorch as torch


def save(model, optimizer, scheduler, epoch):
    """Return a dict with everything that the next epoch needs, as it is now: later changes must not reach it.

    model: a module. optimizer: has one group, of all parameters of the model. scheduler: one of
    torch.optim.lr_scheduler. epoch: the number of epochs completed.
    """
    raise NotImplementedError


def restore(checkpoint, model, optimizer, scheduler):
    """Put everything back, and return the number of epochs completed.

    model, optimizer, scheduler: fresh ones, as in save; the optimizer may hold the parameters in another
    order.
    """
    raise NotImplementedError
