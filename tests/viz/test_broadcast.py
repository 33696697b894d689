"""The broadcasting picture, against what the library does with the same shapes."""

import itertools

import pytest

import viz
from viz.broadcast_rule import replay, summed_dims

SHAPES = [(), (1,), (3,), (4,), (0,), (3, 1), (1, 4), (2, 3, 1), (2, 1, 4), (1, 1, 1), (5, 1, 3, 4)]


def real_result(lib, shapes):
    """The shape, or the error's text."""
    try:
        return tuple(sum(lib.zeros(shape) for shape in shapes).shape)
    except RuntimeError as error:
        return str(error)


def drawn_result(shapes):
    notes = viz.broadcast(*shapes).trace.notes
    if notes[0].startswith("It fails"):
        return notes[1].removeprefix("RuntimeError: ").removesuffix(".")
    return eval(notes[0].removeprefix("Shape of the result: ").removesuffix("."))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_result_or_the_error_is_the_librarys(lib, count):
    for shapes in itertools.product(SHAPES if count < 3 else SHAPES[1:8], repeat=count):
        assert drawn_result(shapes) == real_result(lib, shapes), shapes


def test_the_strides_are_those_of_an_expanded_tensor(lib):
    x = lib.zeros(4, 3).t()[:, :1]
    picture = viz.broadcast(x, (2, 3, 5))
    assert picture.trace.options["strides"][0] == str(tuple(x.expand(2, 3, 5).stride()))


def test_the_sums_are_what_backward_does(lib):
    for own, other in itertools.product(SHAPES, repeat=2):
        found = replay([own, other])
        if found.fault or 0 in found.result:
            continue
        x = lib.zeros(own, requires_grad=True)
        weights = lib.arange(float(max(1, (lib.zeros(found.result)).numel()))).reshape(found.result)
        ((x + lib.zeros(other)) * weights).sum().backward()
        gone, kept = summed_dims(own, found.result)
        expected = weights.sum(kept, keepdim=True) if kept else weights
        expected = expected.sum(gone) if gone else expected
        assert lib.equal(x.grad, expected)


def test_each_size_says_what_becomes_of_it(lib):
    a, b = lib.zeros(2, 1, 4), lib.zeros(3, 1)
    nodes = viz.broadcast(a, b).trace.by_id()
    roles = {id: node["role"] for id, node in nodes.items() if node["kind"] == "size"}
    assert roles == {
        "c0_1": "kept",
        "c0_2": "stretched",
        "c0_3": "kept",
        "c1_1": "stretched",
        "c1_2": "kept",
        "c1_3": "missing",
    }
    assert [nodes[id]["stride"] for id in ("c0_2", "c1_1", "c1_3")] == ["stride 0"] * 3


def test_the_dim_and_the_operands_at_fault_are_named(lib):
    a, b = lib.zeros(5, 2, 3), lib.zeros(4, 3)
    picture = viz.broadcast(a, b)
    assert picture.trace.notes[0] == "It fails at dim -2: a has 2 there and b has 4, and neither is 1."
    roles = {node["id"]: node["role"] for node in picture.trace.nodes if node["kind"] == "size"}
    assert [id for id, role in roles.items() if role == "fault"] == ["c0_2", "c1_2"]
    assert roles["c0_3"] == "waiting"
    assert picture.trace.steps[-1]["msg"].endswith("So there is no result.")


def test_the_backward_is_written_out(lib):
    b = lib.zeros(3, 1)
    lines = viz.broadcast((2, 3, 4), b).trace.options["backward"]
    assert lines == [
        "(2, 3, 4): the gradient as it is",
        "b: sum over dim 0 (dropped) and dim 2 (kept as size 1), which leaves shape (3, 1)",
    ]


def test_a_long_list_of_operands_is_cut_and_keeps_those_at_fault():
    picture = viz.broadcast(*[(2, 3)] * 40, (4,))
    assert picture.trace.notes[-1] == "Showing 12 of 41 operands."
    assert picture.trace.options["names"][-1] == "(4,)"
    assert picture.svg.startswith("<svg")


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="tensors and shapes such as"):
        viz.broadcast(3)
    with pytest.raises(ValueError, match="never negative"):
        viz.broadcast((-1, 2))
