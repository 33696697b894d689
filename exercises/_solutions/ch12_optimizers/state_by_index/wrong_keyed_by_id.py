"""Keeps the state by id()."""

import numpy as np

FAILS = "test_state"
SAYS = "means nothing in another process"


def state_dict(groups, state):
    number = {id(p): k for k, p in enumerate(parameters(groups))}
    packed = [{**group, "params": [number[id(p)] for p in group["params"]]} for group in groups]
    return {"state": {key: dict(values) for key, values in state.items()}, "param_groups": packed}


def load_state_dict(groups, saved):
    theirs = saved["param_groups"]
    if [len(group["params"]) for group in groups] != [len(group["params"]) for group in theirs]:
        raise ValueError("loaded state dict does not match the groups")
    numbers = [k for group in theirs for k in group["params"]]
    owner = dict(zip(numbers, parameters(groups)))
    state = {
        id(owner[k]): {n: fitted(n, v, owner[k]) for n, v in values.items()}
        for k, values in enumerate(saved["state"].values())
    }
    return ([{**new, "params": group["params"]} for group, new in zip(groups, theirs)], state)


def parameters(groups):
    return [p for group in groups for p in group["params"]]


def fitted(name, value, p):
    if not isinstance(value, np.ndarray):
        return value
    return value.copy() if name == "step" else value.astype(p.dtype)
