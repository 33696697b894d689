"""Puts every BatchNorm into evaluation mode, frozen or not."""

import teachtorch as torch

FAILS = "test_modes_of_the_rest"
SAYS = "only the head is frozen"


def freeze(module):
    for parameter in module.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None


def train_mode(model):
    model.train()
    rest(model)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            module.eval()


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
