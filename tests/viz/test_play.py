"""viz.play: what the recorded backward says must be what the engine did."""

import random

import pytest

import viz
from viz.walk import walk

PLAYED = """\
Steps
  1 backward() starts: the engine counts how many gradients each node waits for, and hands the first
    gradient to SumBackward0.
  2 SumBackward0 runs and sends a gradient to AddBackward0 (now ready).
  3 AddBackward0 runs and sends a gradient to b (now ready) and MulBackward0 (now ready).
  4 AccumulateGrad of b runs: .grad was None, so the gradient [1 1] becomes it.
  5 MulBackward0 runs and sends a gradient to x twice (now ready), then lets go of the 16 B it
    saved.
    Input 0 of x adds up: [1 2] + [1 2] = [2 4]
  6 AccumulateGrad of x runs: .grad was None, so the gradient [2 4] becomes it.
  7 The queue is empty: backward() is done. The saved tensors are gone. The nodes stay for as long
    as somebody refers to them.

A second backward()
  1 backward() again, on the same graph: the nodes are all there, the saved boxes are empty.
  2 SumBackward0 runs again and sends a gradient to AddBackward0 (now ready).
  3 AddBackward0 runs again and sends a gradient to b (now ready) and MulBackward0 (now ready).
  4 AccumulateGrad of b adds: b.grad was [1 1], the gradient is [1 1], so now it is [2 2].
  5 MulBackward0 asks for what it saved, finds the box empty, and the engine raises: Trying to
    backward through the graph a second time (or directly access saved tensors after they have
    already been freed). Saved intermediate values of the graph are freed when you call .backward()
    or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second
    time or if you need to access saved tensors after calling backward.

A second backward(), after backward(retain_graph=True)
  1 backward() again: every saved tensor is still there, so the same nodes run in the same order,
    and the gradients are added once more: b.grad [1 1] → [2 2]; x.grad [2 4] → [4 8]."""


def leaf(lib, values):
    return lib.tensor(values, requires_grad=True)


def label_of(picture, card):
    return picture.trace.by_id()[card]["label"]


def ran(picture):
    """Labels of the cards that ran, in order."""
    return [label_of(picture, step["ids"][0]) for step in picture.trace.steps[1:] if step["ids"]]


def card(picture, label):
    return next(node for node in picture.trace.nodes if node["label"] == label)


def random_loss(lib, seed, length=12):
    choose = random.Random(seed)
    made = [leaf(lib, [1.0, 2.0]) for _ in range(3)]
    for _ in range(length):
        a, b = choose.choice(made), choose.choice(made[-4:])
        made.append(choose.choice(OPERATIONS)(a, b))
    return made[-1].sum()


OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a.tanh(),
    lambda a, b: a * 3,
    lambda a, b: b / 2,
    lambda a, b: a[:1] - b,
    lambda a, b: b + 1.5,
    lambda a, b: written(a + 0, b),
]


def written(a, b):
    """Two in-place operations: the first on a view, so that a CopySlices node stands in the graph."""
    a[:1] = 2.0
    return a.add_(b)


def real_run(loss):
    """Names of the nodes that a backward runs, in order, and the error it ends with."""
    seen, error = [], ""
    graph = walk([loss])
    handles = [
        node.register_prehook(lambda g, k=k: seen.append(graph.name(k))) for k, node in enumerate(graph.nodes)
    ]
    try:
        loss.backward()
    except RuntimeError as raised:
        error = str(raised)
    for handle in handles:
        handle.remove()
    return seen, error


def test_a_whole_run_in_words(lib):
    x, b = leaf(lib, [1.0, 2.0]), leaf(lib, [1.0, 1.0])
    loss = (b + x * x).sum()
    text = viz.play(loss, names={"x": x, "b": b, "loss": loss}).text
    assert text[text.index("Steps") :] == PLAYED


def test_the_order_is_the_engines(lib):
    for seed in range(4):
        loss = random_loss(lib, seed)
        played = [step["msg"].split(" ")[0] for step in viz.play(loss, names=False).trace.steps[1:-1]]
        assert played == real_run(loss)[0]


def test_the_second_backward_fails_where_the_real_one_does(lib):
    for seed in range(12):
        loss = random_loss(lib, seed)
        again = viz.play(loss, names=False).trace.options["again"]["freed"]
        loss.backward()
        seen, error = real_run(loss)
        if error:
            assert [step["msg"].split(" ")[0] for step in again[1:]] == seen
            assert again[-1]["msg"].endswith(error)
        else:
            assert len(again) == 1


def test_the_sentence_is_pytorchs():
    torch, teachtorch = pytest.importorskip("torch"), pytest.importorskip("teachtorch")
    last = [
        viz.play((leaf(lib, [1.0]).exp()).sum()).trace.options["again"]["freed"][-1]["msg"]
        for lib in (torch, teachtorch)
    ]
    assert last[0] == last[1]


def test_grads_versions_and_the_graph_are_as_before(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    y = x * w
    y.retain_grad()
    loss = (y * x).sum()
    w.grad = lib.tensor([10.0, 10.0])
    held, count = w.grad, w.grad._version
    viz.play(loss)
    assert x.grad is None and y.grad is None
    assert w.grad is held and held.tolist() == [10.0, 10.0] and held._version == count
    loss.backward()
    assert w.grad.tolist() == [11.0, 14.0]


def test_a_grad_that_is_there_is_added_to(lib):
    x = leaf(lib, [1.0, 2.0])
    x.grad = lib.tensor([5.0, 5.0])
    picture = viz.play((x * x).sum())
    step = next(step for step in picture.trace.steps if step["msg"].startswith("AccumulateGrad"))
    assert step["msg"] == (
        "AccumulateGrad of x adds: x.grad was [5 5], the gradient is [2 4], so now it is [7 9]."
    )


def test_buffers_show_a_then_a_plus_b(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    picture = viz.play((y.sin() + y.cos()).sum())
    buffer = card(picture, "ExpBackward0")["buffers"][0]["id"]
    shown = [step["land"][buffer]["text"] for step in picture.trace.steps if buffer in step.get("land", {})]
    assert shown == ["a", "a + b"]


def test_badges_count_down(lib):
    x = leaf(lib, [1.0])
    y = x.exp()
    picture = viz.play(y.tanh() + y.sin())
    waits = f"{card(picture, 'ExpBackward0')['id']}.waits"
    states = [{**step["set"], **step.get("land", {})}.get(waits) for step in picture.trace.steps]
    assert [state["text"] for state in states if state] == ["waits for 1", "ready", "done"]


def test_the_queue_puts_leaves_first_then_the_latest(lib):
    a, b = leaf(lib, [1.0]), leaf(lib, [1.0])
    d, e = a.exp(), b.sin()
    picture = viz.play(d + e)
    queues = [[label_of(picture, card) for card in step["queue"]] for step in picture.trace.steps]
    assert ["SinBackward0", "ExpBackward0"] in queues
    assert ["b", "ExpBackward0"] in queues


def test_broadcast_gradients_arrive_summed(lib):
    x, b = leaf(lib, [[1.0, 2.0], [3.0, 4.0]]), leaf(lib, [1.0, 1.0])
    picture = viz.play((x * b).sum())
    step = next(step for step in picture.trace.steps if step["msg"].startswith("AccumulateGrad of b"))
    assert "[4 6]" in step["msg"]


def test_a_retained_gradient_fills(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * 2
    y.retain_grad()
    picture = viz.play((y * y).sum())
    node = next(n for n in picture.trace.nodes if any(p["word"] == "retains grad" for p in n.get("ins", ())))
    filled = [step["set"].get(f"{node['id']}.0.grad") for step in picture.trace.steps]
    assert [f["values"]["cells"][0][0] for f in filled if f] == ["4"]


def test_a_hook_that_changes_a_gradient_is_told(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    y.register_hook(lambda grad: grad * 10)
    messages = [step["msg"] for step in viz.play(y.sum()).trace.steps]
    assert any("ExpBackward0 runs on the gradient that a hook made of it, [10 10]," in m for m in messages)


def test_a_spent_graph_fails_on_the_spot(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = x.exp().sum()
    loss.backward()
    picture = viz.play(loss)
    assert picture.trace.steps[-1]["msg"].startswith(
        "ExpBackward0 fails: Trying to backward through the graph"
    )
    assert "again" not in picture.trace.options
    assert x.grad is not None


def test_a_stale_saved_tensor_fails_at_its_node(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    z = y.sin()
    y.add_(1)
    last = viz.play(z.sum()).trace.steps[-1]
    assert last["msg"].startswith("SinBackward0 fails: one of the variables needed for gradient computation")


def test_a_graph_that_saved_nothing_runs_twice(lib):
    x = leaf(lib, [1.0, 2.0])
    again = viz.play((x + x).sum()).trace.options["again"]
    assert again["freed"] == again["kept"]
    assert "x.grad [2 2] → [4 4]" in again["freed"][0]["msg"]


def test_gradient_and_several_roots(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * 3
    assert "[30 60]" in viz.play(y, lib.tensor([10.0, 20.0])).text
    picture = viz.play([y.sum(), x.sum()])
    assert "[4 4]" in picture.text


def test_the_callers_mistakes_are_theirs(lib):
    x = leaf(lib, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="scalar outputs"):
        viz.play(x * 2)
    with pytest.raises(ValueError, match="requires grad"):
        viz.play(x.detach())
    with pytest.raises(TypeError, match="viz.play takes a tensor"):
        viz.play(3)


def test_a_leaf_alone_can_be_played(lib):
    x = leaf(lib, [1.0])
    assert "the gradient [1] becomes it" in viz.play(x).text


def test_a_long_graph_is_folded_and_still_runs(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x
    for _ in range(60):
        y = y.sin()
    picture = viz.play(y.sum(), names={"x": x})
    assert any("folded nodes run" in step["msg"] for step in picture.trace.steps)
    assert ran(picture)[-1] == "x"
