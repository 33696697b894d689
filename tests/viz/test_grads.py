"""viz.grads: what backward computes, keeps and drops."""

import pytest

import viz

TABLE = """\
gradients of loss
backward() computes 4 gradients (28 B): 2 gradients (16 B) kept, 2 gradients (12 B) dropped again.
Right now 0 of the 2 .grad that backward() keeps hold values.

loss                    float32 []   non-leaf  ░░░░░░       4 B  computed, dropped
result of MulBackward0  float32 [2]  non-leaf  ░░░░░░░░░░░░ 8 B  computed, dropped
h                       float32 [2]  retained  ████████████ 8 B  kept: retain_grad()  None
x                       float32 [2]  leaf      ████████████ 8 B  kept in .grad        None"""


def loss_of(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    h.retain_grad()
    return x, h, (h * h).sum()


def test_the_gradients_of_a_loss_as_a_table(lib):
    x, h, loss = loss_of(lib)
    assert viz.grads(loss, names={"x": x, "h": h, "loss": loss}).text == TABLE


def test_kept_means_that_backward_fills_it(lib):
    x, h, loss = loss_of(lib)
    kept = {node["label"] for node in viz.grads(loss).trace.nodes if node["kind"] in ("leaf", "retained")}
    loss.backward()
    assert kept == {"x", "h"}
    assert x.grad is not None and h.grad is not None
    held = {node["label"] for node in viz.grads(loss).trace.nodes if node["grad"] is not None}
    assert held == {"x", "h"}


def test_the_parameters_of_a_module(lib):
    layer = lib.nn.Linear(3, 2)
    layer.bias.requires_grad_(False)
    rows = viz.grads(layer).trace.nodes
    assert [(row["label"], row["kind"], row["bytes"]) for row in rows] == [
        ("weight", "leaf", 24),
        ("bias", "none", 0),
    ]


def test_a_list_of_tensors_and_dtypes(lib):
    x = lib.ones(3, dtype=lib.float64, requires_grad=True)
    i = lib.tensor([1])
    y = x * 2
    rows = viz.grads([x, i, y]).trace.nodes
    assert [(row["label"], row["kind"], row["bytes"]) for row in rows] == [
        ("x", "leaf", 24),
        ("i", "none", 0),
        ("y", "non-leaf", 24),
    ]


def test_many_rows_are_counted(lib):
    y = lib.tensor([1.0], requires_grad=True)
    for _ in range(40):
        y = y.sin()
    picture = viz.grads(y)
    assert len(picture.trace.nodes) == 24
    assert picture.trace.notes[-1].startswith("17 further gradients not shown")


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="viz.grads takes a tensor"):
        viz.grads("loss")
