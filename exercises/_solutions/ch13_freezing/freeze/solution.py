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
    # solution
    for parameter in module.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None
    # end of solution


def train_mode(model):
    """Put `model` into training mode, but every frozen part of it into evaluation mode.

    model: an nn.Module. A module is frozen if it has parameters, its submodules' included, and none of them
    requires a gradient. What lies inside a frozen module is in evaluation mode, too, with parameters or not.
    """
    # solution
    model.train()
    _rest(model)
    # end of solution


def moved(model, step):
    """Run `step()`, and return the sorted names of all parameters and buffers of `model` that it has changed.

    model: an nn.Module; the names are those of its state_dict(). step: a function without arguments.
    """
    # solution
    before = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    step()
    after = model.state_dict()
    return sorted(name for name in before if not torch.equal(before[name], after[name]))
    # end of solution


# solution
def _rest(module):
    """Frozen parts into evaluation mode, from the outside in."""
    parameters = list(module.parameters())
    if parameters and not any(parameter.requires_grad for parameter in parameters):
        module.eval()
        return
    for child in module.children():
        _rest(child)


# end of solution
