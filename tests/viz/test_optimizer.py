"""viz.optimizer: state in bytes, and the launches of one step."""

import pytest

import teachtorch
import viz
from teachtorch.optim.launches import counting_launches, multi_tensor_launches

TEXT = """\
Adam over 3 parameters, 13 elements
Parameters 52 B, gradients 44 B, state 88 B.
No gradient, so step() passes over it: c.

group 0: lr=0.001 betas=(0.9, 0.999) eps=1e-08
  a  float32 [2, 4]  32 B, grad 32 B; state: step 1, exp_avg 32 B, exp_avg_sq 32 B
  b  float32 [3]     12 B, grad 12 B; state: step 1, exp_avg 12 B, exp_avg_sq 12 B
  c  float32 [2]     8 B, no grad; state: none

for-loop: 14 launches, 18 words per element, 792 B
  lerp_         [■][■]
  mul_          [■][■]
  addcmul_      [■][■]
  sqrt          [■][■]
  div           [■][■]
  add           [■][■]
  addcdiv_      [■][■]

foreach: 7 launches, 18 words per element, 792 B
  lerp_         [■ ■]
  mul_          [■ ■]
  addcmul_      [■ ■]
  sqrt          [■ ■]
  div_          [■ ■]
  add_          [■ ■]
  addcdiv_      [■ ■]

fused: 1 launch, 7 words per element, 308 B
  fused_adam_   [■ ■]

Steps"""


def parameters(lib, *shapes, dtype="float32"):
    made = [lib.nn.Parameter(lib.ones(*shape, dtype=getattr(lib, dtype))) for shape in shapes]
    for p in made:
        p.grad = lib.ones_like(p)
    return made


def adam(lib, **options):
    a, b, c = parameters(lib, (2, 4), (3,), (2,))
    c.grad = None
    optimizer = lib.optim.Adam([a, b, c], **options)
    optimizer.step()
    return optimizer, {"a": a, "b": b, "c": c}


def way(picture, name):
    return next(group for group in picture.trace.groups if group["id"] == f"way {name}")


def test_an_optimizer_in_words():
    optimizer, names = adam(teachtorch)
    assert viz.optimizer(optimizer, names).text.startswith(TEXT)


def test_state_of_both_libraries_is_the_same(lib):
    rows = [n for n in viz.optimizer(*adam(lib)).trace.nodes if n["kind"] == "parameter"]
    assert [row["label"] for row in rows] == ["a", "b", "c"]
    assert rows[0]["sizes"] == {"parameter": 32, "grad": 32, "exp_avg": 32, "exp_avg_sq": 32}
    assert rows[2]["sizes"] == {"parameter": 8, "grad": 0}
    assert [entry["name"] for entry in rows[0]["state"]] == ["step", "exp_avg", "exp_avg_sq"]
    assert rows[2]["grad"] is None and rows[2]["state"] == []


def test_only_the_state_of_pytorch_is_told():
    torch = pytest.importorskip("torch")
    picture = viz.optimizer(*adam(torch))
    assert "Launches are not counted: PyTorch has no public counter." in picture.trace.notes[-1]
    assert picture.trace.steps == []


@pytest.mark.parametrize(
    "name, options",
    [
        ("SGD", {}),
        ("SGD", {"momentum": 0.9}),
        ("Adam", {"amsgrad": True}),
        ("AdamW", {}),
        ("RMSprop", {}),
        ("Adagrad", {}),
        ("Adamax", {}),
        ("Rprop", {}),
        ("NAdam", {}),
        ("Adafactor", {}),
    ],
)
@pytest.mark.parametrize("kind", ["foreach", "fused", "for-loop"])
def test_launches_are_those_of_a_real_step(name, options, kind):
    params = parameters(teachtorch, (2, 3), (4,), (3, 1))
    make = getattr(teachtorch.optim, name)
    drawn = viz.optimizer(make(params, **options))
    if f"way {kind}" not in {group["id"] for group in drawn.trace.groups}:
        assert "has no" in " ".join(drawn.trace.notes)
        return
    switch = {"foreach": False} if kind == "for-loop" else {kind: True}
    real = make(params, **options, **switch)
    real.step()
    with counting_launches() as counts:
        real.step()
    assert way(drawn, kind)["launches"] == sum(counts.values())


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("SGD", {}, 3),  # reads p and g, writes p
        ("SGD", {"momentum": 0.9}, 5),  # and the buffer, both ways
        ("Adam", {}, 7),
        ("Adam", {"amsgrad": True}, 9),
        ("AdamW", {}, 7),
        ("Adagrad", {}, 5),
    ],
)
def test_fused_goes_through_memory_once(name, options, words):
    optimizer = getattr(teachtorch.optim, name)(parameters(teachtorch, (5, 5), (3,)), **options)
    fused = way(viz.optimizer(optimizer), "fused")
    assert (fused["launches"], fused["words"], fused["bytes"]) == (1, words, words * 28 * 4)


def test_many_tensors_take_several_launches_on_a_gpu():
    optimizer = teachtorch.optim.Adam(parameters(teachtorch, *[(3,)] * 400))
    foreach = way(viz.optimizer(optimizer), "foreach")
    assert foreach["launches"] == 7
    lists = [2, 1, 3, 2, 1, 1, 3]  # of lerp_, mul_, addcmul_, sqrt, div_, add_, addcdiv_
    scalars = [False, False, False, False, True, False, True]
    expected = [multi_tensor_launches([3] * 400, n, s, 32768) for n, s in zip(lists, scalars, strict=True)]
    assert foreach["cuda"] == sum(expected) > 7


def test_groups_and_dtypes_are_launched_apart():
    narrow, wide = parameters(teachtorch, (2,), (2,)), parameters(teachtorch, (2,), dtype="float64")
    optimizer = teachtorch.optim.Adam([{"params": [narrow[0], *wide]}, {"params": narrow[1:], "lr": 0.1}])
    assert way(viz.optimizer(optimizer), "foreach")["launches"] == 21
    assert way(viz.optimizer(optimizer), "fused")["bytes"] == 7 * (8 + 16 + 8)


def test_the_optimizer_itself_makes_no_step(lib):
    optimizer, names = adam(lib)
    before = [p.tolist() for p in names.values()], optimizer.state[names["a"]]["step"].item()
    viz.optimizer(optimizer)
    assert ([p.tolist() for p in names.values()], optimizer.state[names["a"]]["step"].item()) == before


def test_many_parameters_are_folded(lib):
    optimizer = lib.optim.SGD(parameters(lib, *[(2,)] * 40))
    picture = viz.optimizer(optimizer)
    assert "Showing 10 of 40 parameters." in picture.trace.notes
    assert len([node for node in picture.trace.nodes if node["kind"] == "parameter"]) == 10


def test_an_optimizer_that_needs_a_closure(lib):
    picture = viz.optimizer(lib.optim.LBFGS(parameters(lib, (2,))))
    assert picture.trace.steps == [] and picture.svg
    assert lib.__name__ == "torch" or "No step is drawn" in picture.trace.notes[-1]


def test_names_that_the_optimizer_was_given(lib):
    layer = lib.nn.Linear(2, 1)
    picture = viz.optimizer(lib.optim.SGD(layer.named_parameters()), names=False)
    assert [node["label"] for node in picture.trace.nodes] == ["weight", "bias"]


def test_what_is_no_optimizer_is_refused():
    with pytest.raises(TypeError, match="viz.optimizer takes an optimizer of teachtorch or PyTorch, got int"):
        viz.optimizer(3)
