"""viz.holders: who keeps memory alive, and what would be freed without whom."""

import weakref

import pytest

import viz

PICTURE = """\
who holds the memory of h
The 24 B are freed at once when the last of these goes: h, loss and v.

storage, 24 B
  h  float32 [6]  result
    ← h
    ← its view v
    ← MulBackward0 saved it as self
    ← MulBackward0 saved it as other
  v  float32 [2]  view
    ← v

what would be freed
  without h            0 B  not this storage: loss and v keep it
  without loss         4 B  not this storage: h and v keep it
  without v            0 B  not this storage: h and loss keep it
  without h, loss, v  52 B  this storage too"""


def scene(lib):
    x = lib.ones(6, requires_grad=True)
    h = x.clone()
    return {"h": h, "loss": (h * h).sum(), "v": h[:2]}


def test_the_picture_in_words(lib):
    names = scene(lib)
    h = names["h"]
    text = viz.holders(h, names=names).text
    text = text.replace("h and 1 more reference", "h").replace("v and 1 more reference", "v")
    kept = [line for line in text.splitlines() if not line.startswith("PyTorch does not tell")]
    assert sorted(kept) == sorted(PICTURE.splitlines())


def test_deleting_what_the_picture_names_frees_it(lib):
    names = scene(lib)
    gone = weakref.ref(names["h"])
    rows = {row["label"]: row["this"] for row in viz.holders(names["h"], names=names).trace.options["rows"]}
    assert rows == {"without h": False, "without loss": False, "without v": False, "without h, loss, v": True}
    del names["v"], names["loss"]
    assert gone() is not None
    del names["h"]
    assert gone() is None


def test_backward_lets_go_of_what_was_saved(lib):
    x = lib.ones(3, requires_grad=True)
    h = x * 1
    loss = (h * h).sum()
    names = {"x": x, "h": h, "loss": loss}
    before, after = viz.holders(h, names=names), (loss.backward(), viz.holders(h, names=names))[1]
    assert "MulBackward0 saved it as self" in before.text and "MulBackward0" not in after.text
    assert "x.grad" in viz.holders(x.grad, names=names).text


def test_a_leaf_is_held_by_the_graph(lib):
    x = lib.ones(3, requires_grad=True)
    y = x * 2
    labels = [
        node["label"]
        for node in viz.holders(x, names={"x": x, "y": y}).trace.nodes
        if node["kind"] == "holder"
    ]
    assert labels[-1] in ("AccumulateGrad fills its .grad", "MulBackward0 ends at this leaf")


def test_many_holders_are_counted_and_not_all_drawn(lib):
    x = lib.ones(3)
    views = [x[k:] for k in range(3) for _ in range(10)]
    picture = viz.holders(x, names={"x": x, **{f"v{k}": v for k, v in enumerate(views)}})
    assert any("Showing 12 of 31 tensors" in note for note in picture.trace.notes)
    assert "showing 11 of" in picture.text and "without all 12" in picture.text
    assert max(map(len, picture.text.splitlines())) <= 110


def test_arrays_and_shared_memory_hold_the_storage():
    torch = pytest.importorskip("teachtorch")
    x = torch.ones(3)
    array = x.numpy()
    assert "← 1 NumPy array" in viz.holders(x, names=False).text and array.sum() == 3
    x.share_memory_()
    assert "← shared with other processes (file_" in viz.holders(x, names=False).text


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="viz.holders takes a tensor"):
        viz.holders([1, 2])
