"""An optimizer that works on other tensors for a while."""
from collections import defaultdict
from contextlib import contextmanager

from ..tensor import Tensor

NAME = "swap_in_optimizer_params_and_state"


@contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """Give an optimizer other parameters and another state in a `with` block; after it, it has its own again.

    `swapin_parameters`: a dict of tensors, in the order of the optimizer's. `swapin_optim_state`: a state
    dict of its form. In-place changes of the given tensors stay; what the block puts in their place is
    forgotten.
    RuntimeError where the optimizer has no state yet, or what is given does not fit.
    https://pytorch.org/docs/stable/optim.html
    """
    states = checked_states(optimizer, swapin_optim_state)
    others = matched(optimizer, list(swapin_parameters.values()), swapin_optim_state["param_groups"], states)
    own_state, own_groups = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        optimizer.state = defaultdict(dict)
        for group, (saved, params) in zip(optimizer.param_groups, others):
            for p, number in zip(params, saved["params"]):
                optimizer.state[p] = dict(states.get(number, {}))
            group.update({**saved, "params": params})
        yield
    finally:
        for group, before in zip(optimizer.param_groups, own_groups):
            group.clear()
            group.update(before)
        optimizer.state = own_state


def checked_states(optimizer, saved):
    """The states by number, if both sides are of the right form."""
    if not optimizer.state:
        raise RuntimeError(f"{NAME} requires initialized optimizer state.")
    if not isinstance(saved, dict):
        raise RuntimeError(f"{NAME} requires a DCP-style optimizer state_dict.")
    states = saved.get("state")
    if not isinstance(states, dict):
        raise RuntimeError(f"{NAME} requires swapin_optim_state['state'] to be a dict mapping packed "
                           f"parameter ids to per-param state dicts, got {type(states).__name__}.")
    if any(isinstance(key, Tensor) for key in states):
        raise RuntimeError(f"{NAME} requires optimizer.state_dict()-style state keyed by packed parameter "
                           "ids.")
    if any(isinstance(key, int) and not isinstance(value, dict) for key, value in states.items()):
        raise RuntimeError(f"{NAME} requires per-parameter optimizer state entries to be dictionaries.")
    check_groups(optimizer.param_groups, saved.get("param_groups"))
    return states


def check_groups(groups, saved):
    if not isinstance(saved, list):
        raise RuntimeError(f"{NAME} requires swapin_optim_state['param_groups'] to be a list of param-group dicts, "
                           f"got {type(saved).__name__}.")
    if len(groups) != len(saved):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live "
                           "optimizer.")


def matched(optimizer, params, saved_groups, states):
    """[(saved group, its new parameters)], parameters matched by their order."""
    found, first = [], 0
    for i, (group, saved) in enumerate(zip(optimizer.param_groups, saved_groups)):
        check_group(i, group, saved)
        last = first + len(saved["params"])
        if last > len(params):
            raise RuntimeError(f"{NAME} requires the explicit parameter state to match "
                               "optimizer.param_groups "
                               "ordering.")
        found.append((saved, params[first:last]))
        first = last
    numbers = {number for saved, _ in found for number in saved["params"]}
    extra = [key for key in states if key not in numbers]
    if extra:
        raise RuntimeError(f"{NAME} requires swapin_optim_state['state'] to be keyed only by packed parameter ids "
                           f"from param_groups[*]['params']; got extra keys {extra!r}.")
    return found


def check_group(i, group, saved):
    if not isinstance(saved, dict):
        raise RuntimeError(f"{NAME} requires each optimizer param group to be a dictionary.")
    numbers = saved.get("params")
    if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
        raise RuntimeError(f"{NAME} requires optimizer.state_dict()-style param_groups[*]['params'] entries keyed by "
                           "packed parameter ids.")
    if len(group["params"]) != len(numbers):
        raise RuntimeError(f"swapin_optim_state param group {i} has a different number of params than the live "
                           "optimizer param group.")
    new, gone = [key for key in saved if key not in group], [key for key in group if key not in saved]
    if new or gone:
        raise RuntimeError(f"{NAME} requires optimizer.state_dict()-style param group keys to exactly match the live "
                           f"optimizer group keys for group {i}. Keys only in swap-in: {new}. Keys only in live: "
                           f"{gone}.")
