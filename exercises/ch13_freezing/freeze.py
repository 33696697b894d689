"""Freeze a part of a model, and prove it.

A part is frozen when training changes nothing of it: neither parameters nor buffers (the statistics of a
BatchNorm are buffers). requires_grad_(False) alone is not enough:

- An optimizer steps every parameter whose .grad is not None. Zeros left in .grad are enough for weight decay
  and momentum to move it.
- A BatchNorm in training mode updates its statistics in forward(), whatever requires_grad says.
"""

import teachtorch as torch


def freeze(module):
    """Freeze all parameters of `module`, so that no optimizer moves them any more.

    module: an nn.Module. An optimizer may hold the parameters, with momentum from earlier steps and with
    weight decay, and gradients of an earlier backward may be there.
    """
    raise NotImplementedError


def train_mode(model):
    """Put `model` into training mode, but every frozen part of it into evaluation mode.

    model: an nn.Module. A module is frozen if it has parameters, its submodules' included, and none of them
    requires a gradient. What lies inside a frozen module is in evaluation mode, too, with parameters or not.
    """
    raise NotImplementedError


def moved(model, step):
    """Run `step()`, and return the sorted names of all parameters and buffers of `model` that it has changed.

    model: an nn.Module; the names are those of its state_dict(). step: a function without arguments.
    """
    raise NotImplementedError
