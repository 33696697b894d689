"""viz.module: the tree of a module, its tensors, what is shared, and the shapes of one call."""

import pytest

import viz

TREE = """\
module Tiny
4 modules; 4 parameters of 18 elements, 72 B; 2 buffers of 5 elements, 20 B.
Frozen: 1 parameter of 3 elements, 12 B; the optimizer has nothing to do for them.
1 name more than tensors: shared ones are counted once.
1 path to a module that is in the tree already: counted once.
Shapes of one call with float32 [2, 3], in evaluation mode and without a graph.

model (Tiny)  train  1. [2, 3] → [2, 3]
  ■ scale  float32 [3]  12 B  trains
  ● mean  float32 [3]  12 B  buffer
  ○ cache  float32 [2]  8 B  buffer, not in state_dict
  first (Linear)  train  1 forward hook  2. [2, 3] → [2, 3]   called 2 times
    ■ weight  float32 [3, 3]  36 B  trains
    □ bias  float32 [3]  12 B  frozen: requires_grad is False
  again (Linear)  the same module as first
  tied (Linear)  train  not called
    ■ weight  float32 [3, 3]  the same tensor as first.weight
    ■ bias  float32 [3]  12 B  trains

Steps
  1 Call 1: the model (Tiny) takes [2, 3] and gives [2, 3] by way of its parts.
  2 Call 2: first (Linear) takes [2, 3] and gives [2, 3].
  3 Call 3: first (Linear) takes [2, 3] and gives [2, 3]."""


def tiny(lib):
    class Tiny(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = lib.nn.Parameter(lib.ones(3))
            self.register_buffer("mean", lib.zeros(3))
            self.register_buffer("cache", lib.zeros(2), persistent=False)
            self.first = lib.nn.Linear(3, 3)
            self.again = self.first
            self.tied = lib.nn.Linear(3, 3)
            self.tied.weight = self.first.weight
            self.first.bias.requires_grad_(False)
            self.first.register_forward_hook(lambda *_: None)

        def forward(self, x):
            return self.again(self.first(x * self.scale))

    return Tiny()


def rows(picture):
    return {node["path"]: node for node in picture.trace.nodes if node["path"]}


def test_a_tree_in_words(lib):
    assert viz.module(tiny(lib), lib.ones(2, 3)).text == TREE


def test_without_an_input_nothing_is_called(lib):
    class Refuses(lib.nn.Linear):
        def forward(self, x):
            raise AssertionError("called")

    picture = viz.module(Refuses(2, 2))
    assert picture.trace.steps == [] and all(node.get("flow", "") == "" for node in picture.trace.nodes)


def test_the_call_leaves_flags_hooks_statistics_and_gradients_alone(lib):
    model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3), lib.nn.Dropout())
    model[1].eval()
    viz.module(model, lib.ones(1, 2))  # in training mode batch norm would refuse a batch of one
    assert [part.training for part in model.modules()] == [True, True, False, True]
    assert int(model[1].num_batches_tracked) == 0
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    assert all(p.grad is None for p in model.parameters())


def test_an_error_of_the_module_is_its_own_and_leaves_no_hook(lib):
    model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Linear(2, 3))
    with pytest.raises(RuntimeError):
        viz.module(model, lib.ones(1, 2))
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    assert model.training


def test_shared_tensors_point_at_each_other(lib):
    found = rows(viz.module(tiny(lib)))
    first, tied = found["first.weight"], found["tied.weight"]
    assert first["links"] == [tied["id"]] and tied["links"] == [first["id"]]
    assert found["scale"]["links"] == []


def test_views_of_one_storage_are_told(lib):
    model = lib.nn.Module()
    whole = lib.zeros(4)
    model.register_buffer("left", whole[:2])
    model.register_buffer("right", whole[2:])
    assert "Views of one storage: left, right." in viz.module(model).trace.notes


def test_equal_neighbours_fold(lib):
    model = lib.nn.Sequential(*[lib.nn.Sequential(lib.nn.Linear(4, 4), lib.nn.ReLU()) for _ in range(200)])
    picture = viz.module(model, lib.ones(1, 4))
    fold = next(node for node in picture.trace.nodes if node["kind"] == "fold")
    assert fold["label"] == "1 to 198"
    assert fold["type"] == "594 modules with 396 tensors, 15.47 KiB, each like 0"
    assert fold["flow"].endswith("594 calls")
    assert "Showing 7 of 601 modules; the rest is folded." in picture.trace.notes
    assert len(picture.trace.nodes) < 20


def test_neighbours_that_differ_in_mode_or_hooks_do_not_fold(lib):
    model = lib.nn.Sequential(*[lib.nn.ReLU() for _ in range(6)])
    model[2].eval()
    model[4].register_forward_hook(lambda *_: None)
    assert not any(node["kind"] == "fold" for node in viz.module(model).trace.nodes)


@pytest.mark.parametrize("most", [12, 30, 60])
def test_different_modules_stay_within_the_rows(lib, most):
    model = lib.nn.Sequential(*[lib.nn.Linear(i + 1, i + 2) for i in range(100)])
    picture = viz.module(model, max_rows=most)
    assert len(picture.trace.nodes) <= most + 1
    hidden = next(node for node in picture.trace.nodes if node["kind"] == "fold")
    shown = sum(node["kind"] == "module" for node in picture.trace.nodes)
    assert hidden["type"].startswith(f"{101 - shown} modules")
    tensors = sum("what" in node for node in picture.trace.nodes)
    assert tensors == 2 * (shown - 1)  # no module is drawn without its tensors


def test_deep_trees_fold_from_below(lib):
    model = lib.nn.Linear(2, 2)
    for _ in range(40):
        model = lib.nn.Sequential(model, lib.nn.ReLU())
    picture = viz.module(model)
    assert len(picture.trace.nodes) <= 60
    assert picture.trace.nodes[-1]["kind"] in ("module", "fold")


def test_a_lazy_module_before_and_after_its_first_call(lib):
    model = lib.nn.Sequential(lib.nn.LazyLinear(3))
    before = viz.module(model)
    assert rows(before)["0.weight"]["what"] == "float32, no shape yet"
    assert "2 of them without a shape yet" in before.trace.notes[0]
    after = viz.module(model, lib.ones(1, 5))
    assert rows(after)["0.weight"]["what"] == "float32 [3, 5]"
    assert rows(after)["0"]["type"] == "Linear"


def test_results_that_are_no_tensor(lib):
    lstm = lib.nn.LSTM(3, 4)
    assert viz.module(lstm, lib.ones(5, 2, 3)).trace.nodes[0]["flow"] == (
        "1. [5, 2, 3] → ([5, 2, 4], ([1, 2, 4], [1, 2, 4]))"
    )


def test_a_parametrized_module_shows_the_original(lib):
    layer = lib.nn.utils.parametrizations.weight_norm(lib.nn.Linear(3, 2))
    found = rows(viz.module(layer, lib.ones(1, 3)))
    assert "parametrizations.weight.original0" in found
    assert found["parametrizations.weight.0"]["flow"].endswith("→ [2, 3]")
    assert found["parametrizations.weight"]["flow"] == "2. nothing → [2, 3]"


def test_what_is_no_module(lib):
    with pytest.raises(TypeError, match="viz.module takes a module, got Tensor"):
        viz.module(lib.ones(2))


def test_both_libraries_give_one_picture():
    torch, teachtorch = pytest.importorskip("torch"), pytest.importorskip("teachtorch")
    pictures = [viz.module(tiny(lib), lib.ones(2, 3)) for lib in (torch, teachtorch)]
    assert pictures[0].trace == pictures[1].trace
