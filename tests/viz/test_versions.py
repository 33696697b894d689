"""viz.versions: who shares a storage, and which saved tensors have become stale."""

import pytest

import viz

MAP = """\
versions of y
Every saved tensor still has the version it was saved at: backward() will accept them.

storage, 6 slots           1 2 3 4 5 6
  y  float32 [6]     v0    ■ ■ ■ ■ ■ ■  result
  d  float32 [6]     v0    ■ ■ ■ ■ ■ ■  plain
  c  float32 [2, 2]  v0    ■ · ■ ■ · ■  view
    SinBackward0 saved self at v0"""


def result(lib):
    return lib.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], requires_grad=True) * 1


def chips(picture):
    return {node["label"]: node["state"] for node in picture.trace.nodes if node["kind"] == "chip"}


def badges(picture):
    return {node["label"]: node["version"] for node in picture.trace.nodes if node["kind"] == "tensor"}


def test_an_alias_map_in_words(lib):
    y = result(lib)
    c, d = y.view(2, 3)[:, ::2], y.detach()
    s = y.sin()
    assert viz.versions(y, names={"y": y, "c": c, "d": d, "s": s}).text == MAP


def test_views_and_detach_count_together_and_data_alone(lib):
    y = result(lib)
    v, d, p = y[:3], y.detach(), y.data
    v.add_(1)
    picture = viz.versions(y)
    assert badges(picture) == {"y": 1, "v": 1, "d": 1, "p": 0}
    assert "counter of its own" in picture.trace.notes[0]
    assert (v._version, d._version, p._version) == (1, 1, 0)


def test_a_saved_tensor_is_stale_exactly_when_backward_refuses_it(lib):
    y = result(lib)
    kept, spoilt = y.exp(), y.sin()
    before = viz.versions(y)
    assert chips(before) == {"SinBackward0 saved self": "fresh"}
    with viz.versions.watch(y) as seen:
        y.add_(1)
    assert chips(seen.picture) == {"SinBackward0 saved self": "stale"}
    kept.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        spoilt.sum().backward()


def test_the_moment_at_which_a_saved_tensor_becomes_stale(lib):
    y = result(lib)
    v = y[:3]
    s = y.sin()
    with viz.versions.watch(y) as seen:
        y.mul_(2)
        v.zero_()
        y[0] = 7.0
    steps = seen.picture.trace.steps
    assert [step["msg"].split(" counts")[0] for step in steps] == [
        "At the start.",
        "y.mul_(2): mul_",
        "v.zero_(): zero_",
        "y[0] = 7.0: copy_",
    ]
    stale = "what SinBackward0 saved as self at version 0 becomes stale"
    assert [stale in step["msg"] for step in steps] == [False, True, False, False], [s["msg"] for s in steps]
    assert s.requires_grad


def test_badges_and_slots_change_step_by_step(lib):
    y = result(lib)
    with viz.versions.watch(y) as seen:
        y.add_(1)
        y.add_(1)
    picture = seen.picture
    badge = next(node["id"] for node in picture.trace.nodes if node["label"] == "y") + ".version"
    assert [step["set"][badge]["text"] for step in picture.trace.steps] == ["v0", "v1", "v2"]
    assert [step["set"]["s0.0"]["text"] for step in picture.trace.steps] == ["1", "2", "3"]


def test_a_saved_result_of_a_chain_is_followed_through_the_watch(lib):
    y = result(lib)
    with viz.versions.watch(y) as seen:
        z = y.exp()
        w = y * z
        y.add_(1)
    assert chips(seen.picture) == {"MulBackward0 saved self": "stale"}
    assert w.requires_grad


def spoil(x):
    """A graph that backward() refuses, and the tensor that was changed."""
    y = x * 2
    spoilt = y.sin()
    y.add_(1)
    return y, spoilt


def test_stale_tensors_of_earlier_attempts_belong_to_storages_of_their_own(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    earlier = [spoil(x)[1] for _ in range(2)]
    y, spoilt = spoil(x)
    found = [node["state"] for node in viz.versions(y).trace.nodes if node["kind"] == "chip"]
    assert found == ["stale"]
    assert len(earlier) == 2 and spoilt.requires_grad


@pytest.mark.parametrize("case", ["leaf", "view", "through a view", "constant", "twice", "result"])
def test_a_stale_tensor_finds_its_storage_without_a_watch(lib, case):
    x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    if case == "leaf":
        asked, kept = x, x.sin()
        with lib.no_grad():
            x.add_(1)
    elif case == "view":
        asked, v = y, y[:2]
        kept = (v.sin(), y.sin())
        v.add_(1)
    elif case == "through a view":
        asked, kept = y, y.sin()
        y[:2].mul_(2)
    elif case == "constant":
        asked = lib.tensor([1.0, 2.0, 3.0])
        kept = y * asked
        asked.add_(1)
    elif case == "twice":
        asked, kept = y, y.sin()
        y.add_(1).mul_(2)
    else:
        asked = y.exp()
        kept = (asked, asked + 0)
        asked.add_(1)
    states = [node["state"] for node in viz.versions(asked).trace.nodes if node["kind"] == "chip"]
    assert "stale" in states
    assert kept is not None


def test_nothing_written_nothing_stepped(lib):
    y = result(lib)
    with viz.versions.watch(y) as seen:
        y + 1
    assert seen.picture.trace.steps == []


def test_two_storages_are_two_groups(lib):
    y = result(lib)
    z = y.exp()
    picture = viz.versions(y, z)
    assert [group["id"] for group in picture.trace.groups] == ["s0", "s1"]
    assert chips(picture) == {"ExpBackward0 saved result": "fresh"}


def test_a_large_storage_shows_spans(lib):
    big = lib.zeros(1000)
    part = big[100:200]
    text = viz.versions(big).text
    assert "slots 100 to 199" in text
    assert part._version == 0


def test_no_tensor_is_refused(lib):
    with pytest.raises(ValueError, match="at least one tensor"):
        viz.versions()
    with pytest.raises(TypeError, match="viz.versions takes a tensor"):
        viz.versions.watch(3)


def test_a_view_that_the_library_refuses_to_answer_for_is_passed_over(lib):
    """PyTorch raises at `.grad_fn` of an output of split whose base was changed in place."""
    base = lib.ones(4, requires_grad=True) * 1
    parts = base.split(2)
    base.mul_(2)
    with pytest.raises(RuntimeError, match="is a view and its base or another view of its base has been modified"):
        parts[1].grad_fn
    other = lib.ones(3, requires_grad=True).exp()
    assert "other" in viz.versions(other).text
