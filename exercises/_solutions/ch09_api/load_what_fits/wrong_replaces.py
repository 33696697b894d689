"""Puts new parameters in place of the old ones."""

import teachtorch as torch

FAILS = "test_parameters_stay"
SAYS = "in place"


def load_what_fits(model, state):
    """Copy what fits from `state`, {name: tensor}, into the parameters and buffers of `model`.

    Returns three sorted lists of names: loaded; left (in the model, but not loaded); unexpected (in the file, but not
    in the model). An entry fits if its shape is the same. Values are copied in place: an optimizer that holds a
    parameter goes on holding it. Neither `state` nor what `model` requires gradients for is changed.
    """
    if all(name.startswith("module.") for name in state):
        state = {name.removeprefix("module."): value for name, value in state.items()}
    own = model.state_dict()
    fitting = [name for name in state if name in own and own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in fitting:
            owner = model.get_submodule(name.rpartition(".")[0])
            new = state[name].clone()
            kind = torch.nn.Parameter if name in dict(model.named_parameters()) else torch.Tensor.detach
            setattr(owner, name.rpartition(".")[2], kind(new))
    left = sorted(set(own) - set(fitting))
    return sorted(fitting), left, sorted(set(state) - set(own))
