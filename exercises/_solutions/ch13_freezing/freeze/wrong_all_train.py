"""Puts everything into training mode."""

import teachtorch as torch

FAILS = "test_modes"
SAYS = "statistics of a frozen BatchNorm"


def freeze(module):
    for parameter in module.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None


def train_mode(model):
    model.train()


def rest(module):
    parameters = list(module.parameters())
    if parameters and not any(parameter.requires_grad for parameter in parameters):
        module.eval()
        return
    for child in module.children():
        rest(child)


def moved(model, step):
    before = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    step()
    after = model.state_dict()
    return sorted(name for name in before if not torch.equal(before[name], after[name]))
