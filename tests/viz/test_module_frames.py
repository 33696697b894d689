"""Frames of modules in viz.graph."""

import pytest

import viz


@pytest.fixture
def net(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.ReLU(), lib.nn.Linear(4, 4))
            self.head = lib.nn.Linear(4, 1)

        def forward(self, x):
            return self.head(self.body(x).tanh())

    return Net()


def frames(picture):
    nodes = picture.trace.by_id()
    return {
        frame["label"]: {nodes[card]["label"] for card in frame["cards"]} for frame in picture.trace.groups
    }


def test_nodes_stand_with_the_parameters_they_use(lib, net):
    found = frames(viz.graph(net(lib.ones(2, 3)).sum(), modules=net, names=net))
    linear = {"AddmmBackward0", "TBackward0"}
    assert found["head (Linear)"] == linear | {"head.weight", "head.bias"}
    assert found["body.0 (Linear)"] == linear | {"body.0.weight", "body.0.bias"}
    assert found["body.2 (Linear)"] == linear | {"body.2.weight", "body.2.bias"}


def test_what_lies_between_two_parts_stands_in_their_parent(lib, net):
    picture = viz.graph(net(lib.ones(2, 3)).sum(), modules=net)
    assert frames(picture)["body (Sequential)"] == {"ReluBackward0"}
    ids = {frame["label"]: frame["id"] for frame in picture.trace.groups}
    inside = {frame["label"]: frame["inside"] for frame in picture.trace.groups}
    assert inside["body.0 (Linear)"] == ids["body (Sequential)"]
    assert inside["head (Linear)"] is None


def test_text_and_dot_show_the_frames(lib, net):
    picture = viz.graph(net(lib.ones(2, 3)).sum(), modules=net)
    assert "body.2 (Linear): AddmmBackward0" in picture.text
    assert picture.source.count("subgraph cluster_") == 4


def test_a_module_with_parameters_of_its_own(lib):
    class Scale(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2))

        def forward(self, x):
            return x * self.weight

    scale = Scale()
    found = frames(viz.graph(scale(lib.ones(2)).sum(), modules=scale))
    assert found == {"model (Scale)": {"MulBackward0", "scale.weight"}}


def test_only_a_module_will_do(lib):
    x = lib.tensor([1.0], requires_grad=True)
    with pytest.raises(TypeError, match="nn.Module"):
        viz.graph(x.exp(), modules=[x])
