"""state_dict of an optimizer: parameters by their place, not by their name.

A running optimizer keeps the state of each parameter by the parameter itself. A file cannot: so state_dict
numbers the parameters, in the order of the groups and inside each group, and load_state_dict matches them by
that number. Whoever builds the groups in another order gets another parameter's state, without a word.

Here parameters are NumPy arrays, and state is a dict id(parameter) -> {name: number or array}.
"""

import numpy as np


def state_dict(groups, state):
    """Return {"state": {number: {name: value}}, "param_groups": [...]}.

    groups: dicts with "params", a list of arrays, and options. In the result "params" holds the numbers;
    options are the same. Parameters without state have no entry in "state". Neither groups nor state may
    change.
    """
    # solution
    number = {id(p): k for k, p in enumerate(parameters(groups))}
    packed = [{**group, "params": [number[id(p)] for p in group["params"]]} for group in groups]
    return {"state": {number[key]: dict(values) for key, values in state.items()}, "param_groups": packed}
    # end of solution


def load_state_dict(groups, saved):
    """Return (groups, state) as they are after loading: the parameters of `groups`, the options and state of
    `saved`.

    ValueError when the number of groups, or of parameters in a group, differs. Arrays of the state take the
    dtype of their parameter; but not "step", and not plain numbers. Nothing of the result may be an array of
    `saved`.
    """
    # solution
    theirs = saved["param_groups"]
    if [len(group["params"]) for group in groups] != [len(group["params"]) for group in theirs]:
        raise ValueError("loaded state dict does not match the groups")
    numbers = [k for group in theirs for k in group["params"]]
    owner = dict(zip(numbers, parameters(groups)))
    state = {
        id(owner[k]): {n: fitted(n, v, owner[k]) for n, v in values.items()}
        for k, values in saved["state"].items()
    }
    return [{**new, "params": group["params"]} for group, new in zip(groups, theirs)], state
    # end of solution


# solution
def parameters(groups):
    return [p for group in groups for p in group["params"]]


def fitted(name, value, p):
    if not isinstance(value, np.ndarray):
        return value
    return value.copy() if name == "step" else value.astype(p.dtype)


# end of solution
