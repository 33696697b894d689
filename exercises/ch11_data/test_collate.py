"""Grades collate.py."""

import collections

import numpy as np

from exercises.grading import equal, holds, points, raises

Point = collections.namedtuple("Point", "x y")


@points(1, "arrays, side by side")
def test_arrays(yours):
    batch = [np.array([1, 2, 3]), np.array([4, 5, 6])]
    equal(yours.collate(batch), np.array([[1, 2, 3], [4, 5, 6]]), "a new first dimension")


@points(2, "Python's numbers")
def test_numbers(yours):
    why = "a Python float has 53 bits: float64, not float32"
    equal(yours.collate([1.5, 2.5]), np.array([1.5, 2.5]), why)
    equal(yours.collate([1.5, 2]), np.array([1.5, 2.0]), "the first sample decides")
    equal(yours.collate([1, 2]), np.array([1, 2], np.int64), "integers are int64")
    equal(
        yours.collate([True, False]),
        np.array([True, False]),
        "bool is an int to isinstance; ask for it first",
    )


@points(1, "text stays a list")
def test_text(yours):
    equal(yours.collate(["a", "bc"]), ["a", "bc"], "there are no tensors of text")
    equal(yours.collate([b"a"]), [b"a"], "nor of bytes")


@points(2, "tuples and lists become lists of columns")
def test_columns(yours):
    why = "default_collate makes a list of a tuple: its columns, not its rows"
    equal(yours.collate([(1, 2.0), (3, 4.0)]), [np.array([1, 3]), np.array([2.0, 4.0])], why)
    equal(
        yours.collate([[1, "a"], [3, "b"]]), [np.array([1, 3]), ["a", "b"]], "a list is collated like a tuple"
    )
    equal(yours.collate([(1, (2, 3))]), [np.array([1]), [np.array([2]), np.array([3])]], "all the way down")


@points(1, "a named tuple keeps its type")
def test_named(yours):
    got = yours.collate([Point(1, 2.0), Point(3, 4.0)])
    holds(
        type(got) is Point,
        "the fields keep their names",
        what="the type of a batch of Points",
        got=type(got).__name__,
    )
    equal([got.x, got.y], [np.array([1, 3]), np.array([2.0, 4.0])], what="its fields x and y")


@points(2, "the keys of the first sample")
def test_mapping(yours):
    got = yours.collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y", "c": 3}])
    equal(got, {"a": np.array([1, 2]), "b": ["x", "y"]}, "a key that only a later sample has is dropped")
    raises(KeyError, yours.collate, [{"a": 1}, {}], why="a key that a later sample lacks is an error")


@points(1, "unequal lengths are refused")
def test_unequal(yours):
    raises(
        RuntimeError,
        yours.collate,
        [(1, 2), (3,)],
        why="zip stops at the shorter one, and loses data silently",
    )


@points(1, "what cannot be collated is refused")
def test_refused(yours):
    raises(TypeError, yours.collate, [None, None], why="None has no place in a batch")
    raises(TypeError, yours.collate, [{1}, {2}], why="nor has a set")
