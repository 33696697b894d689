"""viz.diff: what came, what went, and what is saved."""

import pytest

import viz

DETACHED = """\
a → b: what changed
0 nodes added, 2 nodes vanished, 4 as before.
Storage kept alive for backward: 16 B before, 8 B after.

saved before  ████████████████████████ 16 B
saved after   ████████████             8 B

  a → b
  SumBackward0
  MulBackward0  saves 16 B → 8 B
  w
- ExpBackward0  saves 8 B → 0 B
- x"""


def marks(picture, mark):
    return [node["label"] for node in picture.trace.nodes if node["mark"] == mark]


def leaf(lib, values):
    return lib.tensor(values, requires_grad=True)


def test_a_detach_in_words(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    h = x.exp()
    a, b = (h * w).sum(), (h.detach() * w).sum()
    assert viz.diff(a, b, names={"x": x, "w": w, "a": a, "b": b}).text == DETACHED


def test_swapping_the_two_swaps_the_marks(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    h = x.exp()
    a, b = (h * w).sum(), (h.detach() * w).sum()
    assert marks(viz.diff(b, a), "added") == marks(viz.diff(a, b), "vanished") == ["ExpBackward0", "x"]


def test_an_in_place_operation_against_an_earlier_picture(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    before = viz.graph(y)
    y.add_(1)
    picture = viz.diff(before, y)
    assert marks(picture, "added") == ["AddBackward0"]
    exp = next(node for node in picture.trace.nodes if node["label"] == "ExpBackward0")
    assert exp["notes"] == ["saved result: changed in place"]
    assert "is not counted" in picture.trace.notes[-1]


def test_a_backward_frees(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = x.exp().sum()
    before = viz.graph(loss)
    loss.backward()
    assert "saved result: freed" in viz.diff(before, loss).text


def test_equal_graphs(lib):
    x = leaf(lib, [1.0, 2.0])
    picture = viz.diff(x.exp().sum(), x.exp().sum())
    assert picture.trace.notes[0] == "No node came or went."
    assert marks(picture, "same") == ["a tensor", "SumBackward0", "ExpBackward0", "x"]


def test_a_checkpoint_is_known_by_what_it_packed():
    torch = pytest.importorskip("torch")
    from torch.utils.checkpoint import checkpoint

    x = leaf(torch, [1.0, 2.0])

    def block(t):
        return t.sin().exp()

    runs = []
    picture = viz.diff(
        block(x).sum(), checkpoint(lambda t: runs.append(1) or block(t), x, use_reentrant=False).sum()
    )
    assert [node["label"] for node in picture.trace.nodes if node["again"]] == [
        "ExpBackward0",
        "SinBackward0",
    ]
    assert picture.trace.options["saved_bytes"] == [16, 0]
    assert len(runs) == 1


def test_other_pictures_are_refused(lib):
    x = leaf(lib, [1.0])
    with pytest.raises(ValueError, match="compares graphs"):
        viz.diff(viz.strides(x), x)
    with pytest.raises(TypeError, match="viz.diff takes a tensor"):
        viz.diff(3, x)
