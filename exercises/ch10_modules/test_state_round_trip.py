"""Grades state_round_trip.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, equal, points, raises


class Net(torch.nn.Module):
    """A module with parameters, buffers, a child and names that hold nothing."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)
        self.scale = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("cache", torch.zeros(4), persistent=False)
        self.register_parameter("offset", None)
        self.norm = torch.nn.BatchNorm1d(3)


class Renamed(torch.nn.Linear):
    """A Linear whose weight was called "kernel" in version 1."""

    _version = 2

    def upgrade(self, state, prefix, version):
        if version is None or version < 2:
            state[prefix + "weight"] = state.pop(prefix + "kernel")


PATHS = [
    "scale",
    "seen",
    "layer.weight",
    "layer.bias",
    "norm.weight",
    "norm.bias",
    "norm.running_mean",
    "norm.running_var",
    "norm.num_batches_tracked",
]


@points(1, "what is saved, and in which order")
def test_what_is_saved(yours):
    state, _ = yours.save(Net())
    why = "own parameters, own persistent buffers, then the children's; None is left out"
    equal(list(state), PATHS, why, what="the paths of save(net)")


@points(1, "the versions of all modules")
def test_versions(yours):
    _, versions = yours.save(Net())
    equal(
        versions,
        {"": 1, "layer": 1, "norm": 2},
        "one for each module; batch norm is at its second",
        what="the versions",
    )


@points(1, "the tensors are aliases, without a graph")
def test_aliases(yours):
    net = Net()
    state, _ = yours.save(net)
    with torch.no_grad():
        net.scale.add_(5)
    equal(
        array_of(state["scale"]).tolist(),
        [6.0, 6.0],
        "they share the memory of the parameters",
        what='state["scale"] after scale.add_(5)',
    )
    equal(state["scale"].requires_grad, False, "they are detached", what='state["scale"].requires_grad')


@points(1, "a round trip")
def test_round_trip(yours):
    first, second = Net(), Net()
    with torch.no_grad():
        for k, p in enumerate(first.parameters()):
            p.fill_(k + 1)
    first.seen.fill_(9)
    equal(
        yours.load(second, *yours.save(first)),
        ([], []),
        "all paths are there",
        what="load(second, *save(first))",
    )
    found = {path: array_of(tensor).tolist() for path, tensor in yours.save(second)[0].items()}
    expected = {path: array_of(tensor).tolist() for path, tensor in yours.save(first)[0].items()}
    equal(found, expected, "the second has the first one's values", what="the state of the second")


@points(1, "values are copied into what is there")
def test_in_place(yours):
    net = Net()
    held, pointer = net.layer.weight, net.layer.weight.data_ptr()
    state, versions = yours.save(Net())
    state = {
        path: tensor.double() if tensor.is_floating_point() else tensor for path, tensor in state.items()
    }
    yours.load(net, state, versions)
    why = "an optimizer that holds the parameter must see the new values"
    equal(
        (net.layer.weight is held, net.layer.weight.data_ptr() == pointer),
        (True, True),
        why,
        what="the same object, the same memory",
    )
    equal(
        str(net.layer.weight.dtype),
        "torch.float32",
        "the module keeps its dtype",
        what="after loading float64: the dtype",
    )
    equal(
        bool(np.allclose(array_of(held), array_of(state["layer.weight"]))),
        True,
        "and the values are there",
        what="the values",
    )


@points(1, "missing and unexpected paths")
def test_strict(yours):
    net = Net()
    state, versions = yours.save(Net())
    del state["layer.bias"]
    state["layer.more"] = torch.ones(1)
    raises(RuntimeError, yours.load, net, state, versions, text="layer.bias", why="strict: what is missing")
    raises(
        RuntimeError, yours.load, net, state, versions, text="layer.more", why="strict: what is unexpected"
    )
    found = yours.load(net, state, versions, strict=False)
    equal(
        found,
        (["layer.bias"], ["layer.more"]),
        "not strict: they are returned",
        what="load(..., strict=False)",
    )


@points(1, "a size that does not fit is always an error")
def test_sizes(yours):
    net = Net()
    state, versions = yours.save(Net())
    state["scale"] = torch.ones(3)
    raises(RuntimeError, yours.load, net, state, versions, text="scale", why="3 numbers do not fit into 2")
    why = "3 numbers do not fit into 2, also when it is not strict: strict is about paths"
    raises(RuntimeError, lambda: yours.load(net, state, versions, strict=False), text="scale", why=why)
    state["scale"] = torch.ones(2, 1)
    why = "(2, 1) is another shape than (2,), with as many numbers"
    raises(RuntimeError, yours.load, net, state, versions, text="scale", why=why)


@points(1, "all that is wrong, in one message")
def test_all_is_told(yours):
    state, versions = yours.save(Net())
    del state["seen"]
    state["x"], state["scale"] = torch.ones(1), torch.ones(3)
    for path in ("seen", "x", "scale"):
        raises(RuntimeError, yours.load, Net(), state, versions, text=path, why="all problems in one message")


@points(1, "an older version is upgraded")
def test_upgrade(yours):
    net = torch.nn.Sequential(Renamed(2, 1))
    given = {"0.kernel": torch.full((1, 2), 7.0), "0.bias": torch.zeros(1)}
    equal(
        yours.load(net, dict(given), {"": 1, "0": 1}),
        ([], []),
        "upgrade has renamed it",
        what="load of version 1",
    )
    equal(array_of(net[0].weight).tolist(), [[7.0, 7.0]], "kernel became weight", what="the weight")
    equal(yours.load(net, dict(given), {}), ([], []), "no version: it is None", what="load without versions")
    newer = {"0.weight": torch.ones(1, 2), "0.bias": torch.zeros(1)}
    equal(yours.load(net, newer, {"0": 2}), ([], []), "version 2 has the new name", what="load of version 2")


@points(1, "the saved dict is left alone")
def test_upgrade_leaves_the_saved_state(yours):
    given = {"0.kernel": torch.ones(1, 2), "0.bias": torch.zeros(1)}
    yours.load(torch.nn.Sequential(Renamed(2, 1)), given, {"0": 1})
    equal(
        list(given),
        ["0.kernel", "0.bias"],
        "upgrade works on a copy: the caller's dict may be loaded again",
        what="the caller's dict afterwards",
    )
