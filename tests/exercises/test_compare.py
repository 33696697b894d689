"""Comparing a learner's answer: exact types first, then values, and a message that says where they part."""

import numpy as np
import pytest

from exercises.grading import Mismatch, beside, close, equal, points, raises, ruler
from exercises.grading.compare import first_difference, show


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (1, True),
        (1.0, 1),
        (np.int64(1), 1),
        ([1], (1,)),
        ((1, 2), (1, 2, 3)),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 2}),
        (None, 0),
        (np.ones(2), np.ones(3)),
        (np.ones(2), np.ones(2, np.float32)),
        (np.array([1, 2]), np.array([1, 3])),
        (np.ma.ones(2), np.ones(2)),
        (((1, (2, 3)),), ((1, (2, 4)),)),
    ],
    ids=repr,
)
def test_different(got, expected):
    with pytest.raises(Mismatch):
        equal(got, expected)


@pytest.mark.parametrize(
    "value",
    [1, 1.5, True, None, "x", (), (1, (2, [3])), {"a": (1,)}, np.ones((2, 0)), np.arange(3), np.array(2.0)],
    ids=repr,
)
def test_same(value):
    equal(value, value)


def test_numpy_scalar_is_a_zero_dim_array():
    equal(np.float64(2), np.array(2.0))
    with pytest.raises(Mismatch, match="dtype"):
        equal(np.float32(2), np.array(2.0))


def test_first_difference_is_placed():
    assert first_difference((1, (2, 3)), (1, (2, 4))) == "at [1][1]:"
    assert first_difference({"a": [1]}, {"a": [True]}) == "at ['a'][0]: the type is int, expected bool"


def test_message_says_what_came_and_what_should_have():
    with pytest.raises(Mismatch) as caught:
        equal((3, 1), (1, 3), "the strides swap", what="transpose of (2, 3)", names=["dim 0", "dim 1"])
    lines = str(caught.value).splitlines()
    assert lines[0] == "transpose of (2, 3)"
    assert "yours     (3, 1)" in lines
    assert "expected  (1, 3)" in lines
    assert "why: the strides swap" in lines
    assert any(line.startswith("dim 0") and line.endswith("<-- here") for line in lines)


def test_an_unknown_object_is_named_and_not_asked():
    class Loud:
        def __repr__(self):
            raise AssertionError("asked")

    assert "Loud" in show(Loud())
    assert "list" in show([Loud()])
    assert "ndarray" in show(np.array([Loud()]))
    with pytest.raises(Mismatch, match="Loud"):
        equal(Loud(), 3)


def test_long_values_are_cut():
    assert len(show(list(range(10_000)))) < 500


def test_close():
    close(1.0 + 1e-12, 1.0)
    close(np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-12]))
    with pytest.raises(Mismatch, match="apart"):
        close(np.array([1.0, 2.0]), np.array([1.0, 2.1]))
    with pytest.raises(Mismatch, match="apart"):
        close(float("nan"), 1.0)
    with pytest.raises(Mismatch, match="shape"):
        close(np.ones(2), np.ones((2, 1)))


def test_raises():
    def fail(error):
        raise error

    raises(ValueError, fail, ValueError("position 3"), text="3")
    with pytest.raises(Mismatch, match="ValueError is raised"):
        raises(ValueError, int, "3")
    with pytest.raises(Mismatch, match="position 3"):
        raises(ValueError, fail, ValueError("position 3"), text="second")
    with pytest.raises(NotImplementedError):
        raises(RuntimeError, fail, NotImplementedError())


def test_points_are_declared():
    @points(2, "what it asks")
    def test():
        return None

    assert (test.worth, test.title) == (2, "what it asks")


def test_beside_marks_the_first_difference_only():
    lines = beside(["a", "x", "y"], ["a", "b", "c", "d"]).splitlines()
    assert [line.endswith("<-- here") for line in lines] == [False, False, True, False, False]


def test_ruler_shows_slots_outside():
    lines = ruler(3, yours=[1, 7], expected=[2]).splitlines()
    assert lines[1].endswith("outside: 7")
    assert lines[2].count("^") == 1
