"""Grades index_put.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, equal, holds, points, raises


def rows_of(*rows):
    return np.array(rows, dtype=np.int64)


def real(target, index, values, accumulate):
    """What the library writes."""
    tensor = torch.from_numpy(target.copy())
    return array_of(tensor.index_put_((torch.from_numpy(index),), torch.from_numpy(values), accumulate))


@points(2, "accumulate: every write adds")
def test_duplicates(yours):
    got = yours.index_put(np.zeros(3), rows_of(0, 0, 1), np.array([1.0, 10.0, 100.0]), accumulate=True)
    equal(got, np.array([11.0, 100.0, 0.0]), "row 0 is written twice: 1 + 10")


@points(1, "without accumulate the values replace")
def test_replaces(yours):
    got = yours.index_put(np.array([1.0, 2.0, 3.0]), rows_of(2, -3), np.array([30.0, 10.0]))
    equal(got, np.array([10.0, 2.0, 30.0]), "row -3 is the first of three")


@points(1, "values are broadcast over the rows")
def test_values(yours):
    got = yours.index_put(np.zeros((3, 2)), rows_of(1, 1), np.array([1.0, 2.0]), accumulate=True)
    equal(got, np.array([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]]), "the one row of values is written twice")


@points(1, "it writes into the target itself")
def test_in_place(yours):
    target = np.zeros(2)
    got = yours.index_put(target, rows_of(1), np.array([5.0]))
    equal(target, np.array([0.0, 5.0]), "the target has to change: an index of arrays copies", what="target")
    holds(got is target, "and is what comes back", what="the result is the target")
    target = np.zeros(2)
    yours.mask_put(target, np.array([True, False]), np.array([5.0]), accumulate=True)
    equal(target, np.array([5.0, 0.0]), "target[mask] is a copy: add to the target itself", what="target")


@points(2, "a mask covers the leading dimensions")
def test_mask_leading(yours):
    got = yours.mask_put(np.zeros((2, 2)), np.array([True, False]), np.array(7.0))
    equal(got, np.array([[7.0, 7.0], [0.0, 0.0]]), "a mask of shape (2,) says which rows: leading dimensions")
    got = yours.mask_put(np.zeros((2, 2)), np.eye(2, dtype=bool), np.array([1.0, 2.0]), accumulate=True)
    equal(got, np.array([[1.0, 0.0], [0.0, 2.0]]), "a mask of the whole shape says which elements")


@points(1, "what does not fit raises IndexError, before anything is written")
def test_errors(yours):
    why = "dimension 0 has size 2, the mask has 3"
    raises(IndexError, yours.mask_put, np.zeros((2, 3)), np.ones(3, dtype=bool), np.array(1.0), why=why)
    why = "dimension 0 has size 3, the mask has 2: it says nothing of row 2"
    raises(IndexError, yours.mask_put, np.zeros(3), np.ones(2, dtype=bool), np.array(1.0), why=why)
    target = np.zeros(2)
    raises(IndexError, yours.index_put, target, rows_of(0, 2), np.array([1.0, 1.0]), why="there is no row 2")
    equal(target, np.zeros(2), "row 2 is not there, so row 0 is not written either", what="target")


@points(2, "any rows and any mask, as the library writes them")
def test_any(yours, rng):
    for _ in range(20):
        numbers = np.random.default_rng(rng.randrange(2**32))
        target = numbers.integers(0, 9, (3, 2, 2)).astype(float)
        rows = numbers.integers(-3, 3, (2, 2))
        values = numbers.integers(0, 9, (2, 2, 2, 1)).astype(float)
        expected = real(target, rows, values, True)
        equal(yours.index_put(target.copy(), rows, values, True), expected, "every write adds")
        mask = numbers.random((3, 2)[: rng.randint(1, 2)]) < 0.5
        for accumulate in (False, True):
            expected = real(target, mask, values[0, 0, 0], accumulate)
            got = yours.mask_put(target.copy(), mask, values[0, 0, 0], accumulate)
            equal(got, expected, "a mask is the list of its places")
