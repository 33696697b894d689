"""Grades state_by_index.py."""

import numpy as np

from exercises.grading import equal, holds, points, raises


def example():
    """Three parameters in two groups; the second has no state."""
    a, b, c = np.zeros(2), np.zeros(3), np.zeros(1)
    groups = [{"params": [a, b], "lr": 0.1}, {"params": [c], "lr": 0.5, "momentum": 0.9}]
    state = {
        id(c): {"step": 3, "buffer": np.array([5.0])},
        id(a): {"step": 4, "buffer": np.array([1.0, 2.0])},
    }
    return groups, state


def plain(state, groups):
    """The state by position, to compare."""
    order = {id(p): k for k, p in enumerate(p for group in groups for p in group["params"])}
    return {order.get(key, f"key {type(key).__name__}"): values for key, values in state.items()}


@points(1, "groups hold numbers")
def test_groups(yours):
    groups, state = example()
    got = yours.state_dict(groups, state)["param_groups"]
    expected = [{"params": [0, 1], "lr": 0.1}, {"params": [2], "lr": 0.5, "momentum": 0.9}]
    equal(got, expected, "numbers go on from group to group", what="state_dict(...)['param_groups']")
    holds(
        groups[0]["params"][0] is not None and type(groups[0]["params"][0]) is np.ndarray,
        "groups must not change",
        what="groups",
    )


@points(2, "state by number")
def test_state(yours):
    groups, state = example()
    got = yours.state_dict(groups, state)["state"]
    why = "id() means nothing in another process: the place in the groups does"
    equal(sorted(map(str, got)), ["0", "2"], why, what="the keys of state_dict(...)['state']")
    equal(got[2], {"step": 3, "buffer": np.array([5.0])}, why, what="the state of parameter 2")


@points(2, "loading matches by order")
def test_order(yours):
    groups, state = example()
    saved = yours.state_dict(groups, state)
    new = [{"params": [np.zeros(2), np.zeros(3)], "lr": 9.0}, {"params": [np.zeros(1)], "lr": 9.0}]
    made, got = yours.load_state_dict(new, saved)
    equal(
        plain(got, new),
        plain(state, groups),
        "the first parameter gets the first one's state",
        what="the loaded state, by place",
    )
    holds(
        made[0]["params"][0] is new[0]["params"][0],
        "the parameters are those of the new optimizer",
        what="params",
    )


@points(1, "options come from the file")
def test_options(yours):
    groups, state = example()
    new = [{"params": [np.zeros(2), np.zeros(3)], "lr": 9.0}, {"params": [np.zeros(1)], "lr": 9.0}]
    made, _ = yours.load_state_dict(new, yours.state_dict(groups, state))
    got = [{name: value for name, value in group.items() if name != "params"} for group in made]
    equal(
        got,
        [{"lr": 0.1}, {"lr": 0.5, "momentum": 0.9}],
        "the loaded learning rate counts, not the constructor's",
        what="options",
    )


@points(2, "state in the parameter's dtype")
def test_dtype(yours):
    new = [{"params": [np.zeros(2, np.float32)], "lr": 0.1}]
    values = {"step": np.array(7.0), "buffer": np.array([1.0, 2.0]), "count": 3}
    saved = {"state": {0: values}, "param_groups": [{"params": [0], "lr": 0.1}]}
    _, got = yours.load_state_dict(new, saved)
    found = got[id(new[0]["params"][0])]
    equal(
        found["buffer"],
        np.array([1, 2], np.float32),
        "a float32 parameter cannot use a float64 buffer",
        what="buffer",
    )
    equal(
        found["step"],
        np.array(7.0),
        "the step count keeps its own dtype: float16 counts to 2048 only",
        what="step",
    )
    equal(found["count"], 3, "a number stays a number", what="count")


@points(1, "nothing is shared with the file")
def test_copies(yours):
    new = [{"params": [np.zeros(2)], "lr": 0.1}]
    saved = {"state": {0: {"buffer": np.array([1.0, 2.0])}}, "param_groups": [{"params": [0], "lr": 0.1}]}
    _, got = yours.load_state_dict(new, saved)
    got[id(new[0]["params"][0])]["buffer"] += 1
    equal(
        saved["state"][0]["buffer"],
        np.array([1.0, 2.0]),
        "training goes on, the checkpoint stays",
        what="the saved buffer",
    )


@points(1, "groups that do not match")
def test_mismatch(yours):
    groups, state = example()
    saved = yours.state_dict(groups, state)
    raises(ValueError, yours.load_state_dict, groups[:1], saved, why="one group for two")
    other = [{"params": groups[0]["params"][:1]}, groups[1]]
    raises(ValueError, yours.load_state_dict, other, saved, why="one parameter for two")
    moved = [{**groups[0], "params": groups[0]["params"][:1]}, {**groups[1], "params": [*groups[0]["params"][1:], *groups[1]["params"]]}]
    raises(ValueError, yours.load_state_dict, moved, saved, why="as many parameters, but another number in each group")
