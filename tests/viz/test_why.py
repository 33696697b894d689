"""viz.why: each of the seven reasons, what rules the others out, and what cannot be known."""

import pytest

import viz

NON_LEAF = """\
why is y.grad None?
y is not a leaf: ExpBackward0 made it. backward() computes its gradient, passes it on, and drops it.
backward() has not run yet either.

Fix
    y.retain_grad()   # after making y, before backward()

From the loss to the tensor
    loss  float32 []  backward() starts here
    ↓
    SumBackward0
    ↓
    MulBackward0
    ↓
    ▶ y  float32 [2]  computed, not kept
    ↓
    ExpBackward0

The seven reasons
  ✗ not a leaf, no retain_grad()        grad_fn is ExpBackward0, retains_grad is False
  · cut by detach()                     the path from the loss is whole
  · made under no_grad()                the path from the loss is whole
  · needs no gradient                   requires_grad is True
  · not reached from the loss           a path leads from the loss to it
  ? backward() has not run              saved tensors are still there: not run, or run with
                                        retain_graph=True
  · set to None, or another tensor now  nothing points to it
  ✗ the cause   ? possible: cannot be told afterwards   · ruled out"""


def leaf(lib, values):
    return lib.tensor(values, requires_grad=True)


def cause(picture):
    return picture.trace.options["cause"]


def verdicts(picture, verdict):
    return {check["reason"] for check in picture.trace.options["checks"] if check["verdict"] == verdict}


def said(picture):
    return " ".join(picture.trace.notes)


def broken(picture):
    """The label of the broken link."""
    return [edge["label"] for edge in picture.trace.edges if edge["state"] == "broken"]


def test_a_non_leaf_in_words(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    loss = (y * y).sum()
    assert viz.why(y, loss, names={"x": x, "y": y, "loss": loss}).text == NON_LEAF


def test_retain_grad_too_late(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    loss = y.sum()
    loss.backward()
    y.retain_grad()
    assert cause(viz.why(y, loss)) == "nonleaf"
    assert "came too late" in said(viz.why(y, loss))


def test_the_fix_of_a_non_leaf_works(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    y.retain_grad()
    y.sum().backward()
    assert viz.why(y).trace.title == "y.grad is not None"


def test_detach_is_known_by_the_memory_the_loss_saved(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    y = x.exp()
    d = y.detach()
    loss = (d * w).sum()
    picture = viz.why(x, loss)
    assert (cause(picture), broken(picture)) == ("detach", ["detach()"])
    assert [node["label"] for node in picture.trace.nodes] == [
        "loss",
        "SumBackward0",
        "MulBackward0",
        "d",
        "y",
        "x",
    ]
    assert picture.trace.options["fix"] == ["# use y instead of d where loss should reach x"]


def test_detach_without_a_name_is_found_too(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    loss = (x.detach() * w).sum()
    assert cause(viz.why(x, loss)) == "detach"


def test_the_detached_tensor_itself(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    d = y.detach()
    picture = viz.why(d)
    assert cause(picture) == "detach"
    assert "d shares its memory with y" in said(picture)


def test_after_backward_a_cut_is_only_suspected(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    y = x.exp()
    d = y.detach()
    loss = (d * w).sum()
    loss.backward()
    picture = viz.why(x, loss)
    assert cause(picture) == "unreached"
    assert verdicts(picture, "possible") == {"detach", "no_grad"}
    assert "A hint: d has the memory of y without its graph" in said(picture)


def test_a_view_made_under_no_grad(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0])
    with lib.no_grad():
        v = x[:1]
    loss = (v * w).sum()
    assert (cause(viz.why(x, loss)), broken(viz.why(x, loss))) == ("no_grad", ["no_grad()"])
    assert cause(viz.why(v, loss)) == "no_grad"


def test_an_inference_tensor(lib):
    x = leaf(lib, [1.0, 2.0])
    with lib.inference_mode():
        y = x * 2
    assert cause(viz.why(y)) == "no_grad"


def test_a_result_of_no_grad_leaves_no_trace_and_the_candidates_are_named(lib):
    x = leaf(lib, [1.0, 2.0])
    with lib.no_grad():
        y = x * 2
    picture = viz.why(y)
    assert cause(picture) == ""
    assert verdicts(picture, "possible") == {"needs_none", "detach", "no_grad", "reset"}
    assert "look alike afterwards" in said(picture)


def test_a_loss_without_graph(lib):
    x = leaf(lib, [1.0, 2.0])
    with lib.no_grad():
        loss = (x * 2).sum()
    picture = viz.why(x, loss)
    assert (cause(picture), broken(picture)) == ("unreached", ["no graph"])
    assert {"detach", "no_grad"} <= verdicts(picture, "possible")


def test_an_integer_dtype(lib):
    i = lib.tensor([1, 2])
    picture = viz.why(i)
    assert cause(picture) == "needs_none"
    assert picture.trace.options["fix"] == ["i = i.float().requires_grad_()   # before the forward pass"]


def test_a_frozen_parameter(lib):
    layer = lib.nn.Linear(2, 1)
    layer.weight.requires_grad_(False)
    picture = viz.why(layer.weight)
    assert cause(picture) == "needs_none"
    assert "layer.weight is a parameter with requires_grad=False" in said(picture)


def test_not_reached(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    loss = (w * w).sum()
    picture = viz.why(x, loss)
    assert (cause(picture), broken(picture)) == ("unreached", ["no path"])
    assert any(node["what"] == "reaches w" for node in picture.trace.nodes)


def test_backward_has_not_run(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = (x * x).sum()
    picture = viz.why(x)
    assert cause(picture) == "no_backward"
    assert picture.trace.options["fix"] == ["loss.backward()"]
    loss.backward()
    assert viz.why(x).trace.title == "x.grad is not None"


def test_zero_grad_after_backward(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = (x * x).sum()
    loss.backward()
    x.grad = None
    picture = viz.why(x, loss)
    assert cause(picture) == "reset"
    assert "autograd.grad()" in said(picture)
    assert "this graph is freed" in next(
        check["why"] for check in picture.trace.options["checks"] if check["reason"] == "no_backward"
    )


def test_without_saved_tensors_nothing_shows_whether_backward_ran(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = (x + x).sum()
    picture = viz.why(x, loss)
    assert (cause(picture), verdicts(picture, "possible")) == ("", {"no_backward", "reset"})


def test_a_name_that_means_another_tensor_now(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = (x * 3).sum()
    x = x * 2
    loss.backward()
    picture = viz.why(x, loss)
    assert (cause(picture), broken(picture)) == ("reset", ["another tensor has the name"])
    ghost = next(node for node in picture.trace.nodes if node["kind"] == "ghost")
    assert ghost["note"] == ".grad [3 3]"


def test_the_optimizer_that_holds_the_old_tensor_is_named(lib):
    class Optimizer:
        def __init__(self, params):
            self.param_groups = [{"params": params}]

    x = leaf(lib, [1.0, 2.0])
    opt = Optimizer([x])  # noqa: F841 viz.why finds it by its name
    loss = (x * 3).sum()
    x = x * 2
    assert "opt still holds that one" in said(viz.why(x, loss))
    with lib.no_grad():
        x = x * 2
    assert "opt still holds another tensor" in " ".join(viz.why(x, loss).text.split())


def test_without_a_loss_it_asks_for_one(lib):
    x = leaf(lib, [1.0, 2.0])
    picture = viz.why(x)
    assert cause(picture) == ""
    assert "viz.why(x, loss) can say more" in said(picture)


def test_a_grad_of_zeros_is_told(lib):
    x = leaf(lib, [1.0, 2.0])
    x.grad = lib.zeros(2)
    assert "Every value is zero" in said(viz.why(x))


def test_a_long_path_is_shortened(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x
    for _ in range(30):
        y = y.sin()
    loss = y.sum()
    picture = viz.why(x, loss)
    assert len(picture.trace.nodes) <= 7
    assert any(node["label"] == "27 more nodes" for node in picture.trace.nodes)


def test_wrong_arguments(lib):
    with pytest.raises(TypeError, match="viz.why takes a tensor"):
        viz.why(3)
    with pytest.raises(TypeError, match="viz.why takes a tensor"):
        viz.why(leaf(lib, [1.0]), "loss")
