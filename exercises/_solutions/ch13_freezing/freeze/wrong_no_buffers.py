"""Looks at the parameters only."""

import teachtorch as torch

FAILS = "test_moved_buffers"
SAYS = "which are buffers"


def freeze(module):
    for parameter in module.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None


def train_mode(model):
    model.train()
    rest(model)


def rest(module):
    parameters = list(module.parameters())
    if parameters and not any(parameter.requires_grad for parameter in parameters):
        module.eval()
        return
    for child in module.children():
        rest(child)


def moved(model, step):
    before = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
    step()
    after = dict(model.named_parameters())
    return sorted(name for name in before if not torch.equal(before[name], after[name]))
