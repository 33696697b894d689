"""gather, scatter and indexing in pictures: each drawn move is the one the library makes."""

import re

import pytest

import viz


def cells(picture, block):
    return {tuple(n["index"]): n for n in picture.trace.nodes if n["block"] == block}


def matrix(lib):
    return lib.arange(12).reshape(3, 4)


def twice(lib):
    return lib.tensor([[0, 3], [1, 1], [2, 0]])


def linked(picture, node, block):
    """The element of another block that this one is linked with."""
    nodes = picture.trace.by_id()
    return [nodes[id] for id in node["links"] if nodes[id]["block"] == block]


# gather


def test_gather_draws_the_result_of_the_library(lib):
    x, index = matrix(lib), twice(lib)
    out = x.gather(1, index)
    for place, cell in cells(viz.gather(x, 1, index), "o").items():
        assert cell["text"] == str(out[place].item())


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_gather_links_each_element_with_the_one_it_reads(lib, dim):
    x = lib.arange(24).reshape(2, 3, 4)
    index = lib.tensor([[[1, 0], [0, 1], [1, 1]]]) * 1
    picture = viz.gather(x, dim, index)
    for place, cell in cells(picture, "o").items():
        (read,) = linked(picture, cell, "i")
        expected = list(place)
        expected[dim] = index[place].item()
        assert read["index"] == expected
        assert read["colour"] == cell["colour"]


def test_gather_spells_out_the_formula(lib):
    x, index = matrix(lib), twice(lib)
    steps = viz.gather(x, 1, index).trace.steps
    assert steps[1]["msg"] == "out[0, 1] = x[0, index[0, 1]] = x[0, 3] = 3."
    row = lib.tensor([[2, 0, 1, 0]])
    assert viz.gather(x, 0, row).trace.steps[0]["msg"] == "out[0, 0] = x[row[0, 0], 0] = x[2, 0] = 8."


def test_gather_says_what_backward_adds_up(lib):
    x = matrix(lib).float().requires_grad_()
    index = twice(lib)
    picture = viz.gather(x, 1, index)
    x.gather(1, index).sum().backward()
    read_twice = [list(i) for i in (x.grad == 2).nonzero().tolist()]
    assert read_twice == [[1, 1]]
    assert "Read more than once: [1, 1] 2 times." in picture.trace.notes[1]
    never = int((x.grad == 0).sum())
    assert picture.trace.notes[2] == f"Never read, so their gradient is 0: {never} elements of x."


def test_gather_refuses_what_the_library_refuses(lib):
    x = matrix(lib)
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        viz.gather(x, 1, lib.tensor([0]))
    with pytest.raises(RuntimeError, match="out of bounds"):
        viz.gather(x, 1, lib.tensor([[4]]))
    with pytest.raises(IndexError):
        viz.gather(x, 2, twice(lib))
    with pytest.raises(TypeError, match="takes a tensor, got list"):
        viz.gather([1], 0, lib.tensor([0]))


def test_the_first_step_hides_what_is_still_to_come(lib):
    steps = viz.gather(matrix(lib), 1, twice(lib)).trace.steps
    assert steps[0]["set"] == {"vo0": {"text": "0"}, **{f"vo{k}": {"text": ""} for k in range(1, 6)}}
    assert steps[4]["set"] == {"vo4": {"text": "10"}}


def test_a_tensor_without_values_is_drawn_by_its_places(lib):
    x = lib.zeros(3, 4, device="meta")
    picture = viz.gather(x, 1, twice(lib))
    assert [n["text"] for n in cells(picture, "i").values()] == [""] * 12
    with pytest.raises(ValueError, match="meta"):
        viz.gather(x, 1, lib.zeros(3, 4, dtype=lib.int64, device="meta"))


# scatter

RUNS = [(None, {}), ("sum", {}), ("prod", {}), ("amax", {}), ("amin", {}), ("mean", {})]
RUNS += [(reduce, {"include_self": False}) for reduce in ("sum", "prod", "amax", "amin", "mean")]


@pytest.mark.parametrize("reduce, more", RUNS)
def test_scatter_draws_the_result_of_the_library(lib, reduce, more):
    x, index = matrix(lib).float(), lib.tensor([[0, 3, 0], [1, 1, 2]])
    src = lib.tensor([[1.0, 2, 3], [4, 5, 6]])
    picture = viz.scatter(x, 1, index, src, reduce, **more)
    out = x.scatter(1, index, src) if reduce is None else x.scatter_reduce(1, index, src, reduce, **more)
    for place, cell in cells(picture, "o").items():
        assert float(cell["text"]) == pytest.approx(out[place].item(), rel=1e-2)


@pytest.mark.parametrize("reduce, more", [run for run in RUNS if run[0] not in (None, "mean")])
def test_the_last_step_of_an_element_shows_its_result(lib, reduce, more):
    x, index = matrix(lib).float() + 1, lib.tensor([[0, 3, 0], [1, 1, 2]])
    src = lib.tensor([[1.0, 2, 3], [4, 5, 6]])
    picture = viz.scatter(x, 1, index, src, reduce, **more)
    last = {}
    for step in picture.trace.steps:
        last.update({id: change["text"] for id, change in step["set"].items()})
    drawn = {f"v{n['id']}": n["text"] for n in picture.trace.nodes if n["block"] == "o"}
    assert last == {id: drawn[id] for id in last}


def test_scatter_names_the_collisions(lib):
    x, index, src = matrix(lib), twice(lib), lib.ones(3, 2, dtype=lib.int64)
    plain = viz.scatter(x, 1, index, src)
    assert plain.trace.notes[0].startswith("Collisions: [1, 1] 2 times. One of the writes stays")
    assert cells(plain, "o")[1, 1]["shared"] == 2
    added = viz.scatter(x, 1, index, src, "sum")
    assert added.trace.notes[0] == "Collisions: [1, 1] 2 times. They are joined by sum."
    assert added.trace.steps[3]["msg"].endswith("+= src[1, 1]: now 7 (write number 2 there).")
    once = viz.scatter(x, 1, index[:1], src)
    assert once.trace.notes[0] == "No two writes go to the same element."


def test_scatter_of_a_number_has_no_source(lib):
    labels = lib.tensor([[2], [0]])
    picture = viz.scatter(lib.zeros(2, 3), 1, labels, 1.0)
    assert [n["text"] for n in cells(picture, "o").values()] == ["0", "0", "1", "1", "0", "0"]
    assert cells(picture, "s") == {}
    assert picture.trace.steps[0]["msg"] == "out[0, labels[0, 0]], which is out[0, 2], = 1.0: now 1."


def test_the_elements_that_are_not_written_are_counted(lib):
    notes = viz.scatter(matrix(lib), 1, twice(lib), 0).trace.notes
    assert "Not written, so as before: 7 elements." in notes


# index


def keys(lib):
    rows, mask = lib.tensor([2, 0, 2]), lib.tensor([[True, False, True], [False, True, False]])
    return [
        (0,),
        (slice(None), 1),
        (Ellipsis, slice(1, None, 2)),
        (None, slice(None), 2),
        (slice(None), rows),
        (slice(None), [0, 2], slice(1, 3)),
        ([0, 1], slice(None), [3, 1]),
        ([[0], [1]], [0, 2]),
        (0, slice(None), rows),
        (lib.tensor(1), rows),
        (slice(None), rows, None, rows),
        (mask,),
        (mask, 1),
        (slice(None), lib.tensor([True, False, True])),
        (rows[:0],),
        (-1, [-1, 0]),
    ]


def test_indexing_draws_the_result_of_the_library(lib):
    x = lib.arange(24).reshape(2, 3, 4)
    for key in keys(lib):
        out = x[tuple(lib.tensor(part) if isinstance(part, list) else part for part in key)]
        drawn = cells(viz.index(x)[key], "o")
        assert {place: n["text"] for place, n in drawn.items()} == {
            place: str(out[place].item()) for place in drawn
        }
        assert len(drawn) == out.numel()


def test_the_written_out_index_is_the_element_that_is_read(lib):
    """The formula is Python: evaluate it. A tensor inside a tuple is named by its place there."""
    x = lib.arange(24).reshape(2, 3, 4)
    for key in keys(lib):
        for step in viz.index(x)[key].trace.steps:
            _, formula, *_, value = step["msg"].rstrip(".").split(" = ")
            assert eval(formula, {"x": x, "key": key}).item() == int(value)


def test_a_view_is_told_from_a_copy(lib):
    x = matrix(lib)
    for key in [(0,), (slice(1, 3), None), (Ellipsis, 2)]:
        assert viz.index(x)[key].trace.notes[0].startswith("A view")
    for key in [([0, 1],), (x > 5,), (slice(None), lib.tensor([1]))]:
        assert viz.index(x)[key].trace.notes[0].startswith("A copy")


def test_the_place_of_the_new_dims_is_named(lib):
    x = lib.zeros(2, 3, 4, 5)
    rows = lib.tensor([0, 1])
    together = viz.index(x)[:, rows, rows].trace
    assert tuple(x[:, rows, rows].shape) == (2, 2, 5)
    assert "at dim 1 of the result" in together.notes[1]
    apart = viz.index(x)[:, rows, :, rows].trace
    assert tuple(x[:, rows, :, rows].shape) == (2, 2, 4)
    assert "so these dims come first in the result" in apart.notes[1]


def test_repeated_rows_are_a_warning(lib):
    notes = viz.index(matrix(lib))[[0, 0]].trace.notes
    assert "[0, 0] 2 times, [0, 1] 2 times, [0, 2] 2 times, and 1 other" in notes[-1]


# Unusual inputs


def test_arrays_and_tuples_are_index_tensors_too(lib):
    import numpy as np

    x = matrix(lib)
    for part in (np.array([2, 0]), [2, 0]):
        assert [n["text"] for n in cells(viz.index(x)[part], "o").values()][:4] == ["8", "9", "10", "11"]


def test_a_single_bool_is_refused(lib):
    for part in (True, lib.tensor(True)):
        with pytest.raises(TypeError, match="no single True or False"):
            viz.index(matrix(lib))[part]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "bfloat16", "float64"])
def test_every_dtype_is_drawn(lib, dtype):
    x = lib.ones(2, 2, dtype=getattr(lib, dtype))
    for picture in (viz.gather(x, 0, lib.tensor([[1, 0]])), viz.index(x)[[0]]):
        assert {n["text"] for n in cells(picture, "o").values()} == {"True" if dtype == "bool" else "1"}


def test_tensors_without_elements_or_dims_are_drawn(lib):
    pictures = [
        viz.gather(lib.zeros(3, 2), 1, lib.zeros(3, 0, dtype=lib.int64)),
        viz.gather(lib.tensor(5), 0, lib.tensor(0)),
        viz.scatter(lib.zeros(2, 0), 1, lib.zeros(2, 0, dtype=lib.int64), lib.zeros(2, 0)),
        viz.index(lib.zeros(0, 3))[:, 1],
        viz.index(lib.tensor(5))[...],
    ]
    for picture in pictures:
        assert picture.svg.startswith("<svg")
        assert picture.text


def test_history_does_not_matter(lib):
    x, src = (lib.ones(2, 2, requires_grad=True) * 1 for _ in range(2))
    index = lib.tensor([[0, 1]])
    for picture in (viz.gather(x, 1, index), viz.scatter(x, 1, index, src, "sum"), viz.index(x)[0]):
        assert picture.trace.steps


# Big inputs


def test_a_big_table_shows_the_rows_that_are_read(lib):
    table, ids = lib.zeros(1000, 30), lib.tensor([[7], [900], [7]]).expand(3, 30)
    picture = viz.gather(table, 0, ids)
    rows = {place[0] for place in cells(picture, "i")}
    assert {7, 900} <= rows
    assert "Showing 99 of 30 000 elements of table." in picture.trace.notes
    assert len(picture.trace.nodes) < 400


def test_many_dims_are_summarised(lib):
    x = lib.zeros(*[2] * 10)
    picture = viz.index(x)[[1, 0, 1]]
    assert len(picture.trace.nodes) < 80
    assert re.search("Showing 16 of 1 024 elements of x", picture.text)
