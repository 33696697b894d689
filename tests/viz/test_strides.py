"""Slots, formulas and verdicts of the stride picture, against the tensor's own geometry."""

import itertools
import re

import pytest

import viz


def cells(picture):
    return [node for node in picture.trace.nodes if node["kind"] == "cell"]


def slots(picture):
    return [node for node in picture.trace.nodes if node["kind"] == "slot"]


def geometries(lib):
    """Tensors of many shapes, strides and offsets."""
    x = lib.arange(24).reshape(2, 3, 4)
    return [
        x,
        x.permute(0, 2, 1),
        x[1],
        x[:, 1],
        x[..., ::2],
        x.reshape(24),
        x[0, 0, 0],
        x[:0],
        x[:1].expand(3, 3, 4),
        x.as_strided((3, 3), (1, 2), 2),
        x.unsqueeze(0),
        x.reshape(4, 1, 6).permute(1, 2, 0),
    ]


def test_every_element_points_at_the_slot_that_holds_it(lib):
    for x in geometries(lib):
        for cell in cells(viz.strides(x)):
            value = x[tuple(cell["index"])].item() if x.dim() else x.item()
            assert (cell["text"], cell["slot"]) == (str(value), value)


def test_slots_outside_the_tensor_are_told_apart(lib):
    for x in geometries(lib):
        inside = {int(slot["text"]) for slot in slots(viz.strides(x)) if slot["used"]}
        assert inside == set(x.reshape(-1).tolist())


def test_the_verdict_is_the_tensors_own(lib):
    for x in geometries(lib):
        verdict = viz.strides(x).trace.notes[0]
        assert verdict.startswith("is_contiguous: yes" if x.is_contiguous() else "is_contiguous: no"), verdict


def test_the_formula_spells_out_the_address_rule(lib):
    t = lib.arange(20)[3:15].reshape(3, 4)[:, 0:3]
    tip = next(cell["tip"] for cell in cells(viz.strides(t)) if cell["index"] == [1, 2])
    assert tip == "[1, 2]: offset 3 + 1*4 + 2*1 = 9"


def test_the_reason_names_the_dim_and_the_stride_needed(lib):
    t = lib.arange(12).reshape(3, 4).t()
    notes = viz.strides(t).trace.notes
    assert (
        notes[0]
        == "is_contiguous: no. Dim 1 has stride 4, but 1 is needed: the product of the sizes after it."
    )


def test_size_one_and_size_zero_do_not_matter(lib):
    one = lib.arange(12).as_strided((4, 1, 3), (3, 999, 1))
    assert "Size 1 makes the stride of dim 1 irrelevant" in viz.strides(one).trace.notes[0]
    none = lib.zeros(0, 5).t()
    assert viz.strides(none).trace.notes[0] == "is_contiguous: yes. A tensor without elements always is."


def test_expanded_elements_share_slots(lib):
    picture = viz.strides(lib.arange(4).expand(3, 4))
    assert [slot["shared"] for slot in slots(picture)] == [3, 3, 3, 3]
    assert "Stride 0 in dim 0" in picture.trace.notes[1]


def test_the_legend_says_how_often_a_slot_is_shared(lib):
    svg = viz.strides(lib.arange(4).expand(2, 4)).svg
    assert "2 of the elements drawn are this one slot" in svg
    assert ">x3<" not in svg


def test_the_legend_says_when_colours_repeat(lib):
    assert "colours take turns" not in words(viz.strides(lib.zeros(4, 2)))
    assert "4 colours take turns" in words(viz.strides(lib.zeros(5, 2)))


def words(picture):
    return " ".join(re.sub("<[^>]*>", " ", picture.svg).split())


def test_cache_lines_hold_64_bytes(lib):
    wide = viz.strides(lib.zeros(20, dtype=lib.float64))
    assert [slot["number"] for slot in slots(wide) if slot["starts"]] == [0, 8, 16]
    small = viz.strides(lib.zeros(70, dtype=lib.bool))
    assert [slot["number"] for slot in slots(small) if slot["starts"]] == [0, 64]


def test_walking_a_column_touches_more_cache_lines(lib):
    x = lib.zeros(16, 16)
    assert "changes the line 15 times" in viz.strides(x).trace.notes[1]
    assert "changes the line 255 times" in viz.strides(x.t()).trace.notes[1]


@pytest.mark.parametrize("name", ["bool", "uint8", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_every_dtype_is_drawn(lib, name):
    if not hasattr(lib, name):
        pytest.skip(f"no {name}")
    t = lib.ones(2, dtype=getattr(lib, name))
    assert viz.strides(t).svg.startswith("<svg")
    expected = {"bool": "True", "complex64": "1+0j"}.get(name, "1")
    assert [cell["text"] for cell in cells(viz.strides(t))] == [expected] * 2


def test_a_big_tensor_is_summarised(lib):
    picture = viz.strides(lib.zeros(1000, 1000).t())
    assert len(picture.trace.nodes) < 300
    assert "Showing 99 of 1 000 000 elements." in picture.trace.notes
    assert [999, 999] in [cell["index"] for cell in cells(picture)]


def test_many_dims_are_summarised(lib):
    picture = viz.strides(lib.zeros(*[2] * 16))
    assert len(cells(picture)) == 4 * 4
    assert cells(picture)[-1]["index"] == [1] * 16


def test_wrong_arguments_are_named(lib):
    x = lib.zeros(2, 3)
    with pytest.raises(TypeError, match="takes a tensor, got list"):
        viz.strides([1, 2])
    with pytest.raises(ValueError, match=r"shape '\[4\]' is invalid for input of size 6"):
        viz.strides(x, view=(4,))
    with pytest.raises(TypeError, match="view takes sizes"):
        viz.strides(x, view=("a",))


def test_view_tells_what_reshape_would_copy(lib):
    x = lib.arange(24, dtype=lib.float32).reshape(2, 3, 4).permute(0, 2, 1)
    fails = viz.strides(x, view=(8, 3))
    assert fails.trace.steps[-1]["msg"] == (
        "view(8, 3) fails; reshape would copy 24 elements (96 B) into new storage with strides (3, 1)."
    )
    works = viz.strides(x, view=(2, 4, -1))
    assert works.trace.options["view"]["strides"] == [12, 1, 4]


def test_the_view_rule_agrees_with_the_engine(lib):
    from viz.view_rule import replay

    for x in geometries(lib):
        for shape in itertools.chain(
            *(itertools.product([1, 2, 3, 4, 6, 12], repeat=k) for k in range(1, 4))
        ):
            if lib.zeros(*shape).numel() == x.numel():
                assert replay(tuple(x.shape), tuple(x.stride()), shape).strides == real_view(x, shape)


def real_view(x, shape):
    try:
        return tuple(x.view(shape).stride())
    except RuntimeError:
        return None
