"""Grades gather_scatter.py."""

import itertools

import numpy as np

from exercises.grading import equal, points, raises

MATRIX = np.array([[10, 11, 12], [20, 21, 22]])


def indices(*rows):
    return np.array(rows, dtype=np.int64)


@points(1, "gather along each dimension")
def test_picks(yours):
    why = "out[i][j] = input[i][index[i][j]]"
    equal(yours.gather(MATRIX, 1, indices([2, 0, 1], [0, 0, 2])), np.array([[12, 10, 11], [20, 20, 22]]), why)
    why = "out[i][j] = input[index[i][j]][j]"
    equal(yours.gather(MATRIX, 0, indices([1, 0, 1])), np.array([[20, 11, 22]]), why)


@points(1, "a smaller index uses a part of the input; nothing is broadcast")
def test_smaller_index(yours):
    equal(
        yours.gather(MATRIX, 1, indices([2, 1])),
        np.array([[12, 11]]),
        "the result has the shape of index: one row",
    )
    why = "an index with three rows does not fit an input with two"
    raises(RuntimeError, yours.gather, MATRIX, 1, indices([0], [0], [0]), why=why)
    raises(
        RuntimeError, yours.gather, MATRIX, 1, np.array([0, 1]), why="index needs as many dimensions as input"
    )


@points(1, "along dim the index may be longer than the input")
def test_longer_along_dim(yours):
    why = "an index of any size along dim is fine: elements are picked again and again"
    equal(yours.gather(MATRIX, 1, indices([0, 1, 2, 1, 0])), np.array([[10, 11, 12, 11, 10]]), why)


@points(1, "entries outside, and negative ones, raise IndexError")
def test_negative_entries(yours):
    raises(IndexError, yours.gather, MATRIX, 1, indices([-1]), why="gather has no negative entries")
    raises(IndexError, yours.gather, MATRIX, 1, indices([3]), why="dimension 1 has size 3")


@points(2, "backward: an element that was picked twice gets two gradients")
def test_picked_twice(yours):
    grad = yours.gather_backward(np.array([[1.0, 2.0, 4.0]]), (2, 3), 1, indices([0, 0, 2]))
    expected = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    equal(grad, expected, "column 0 was picked twice: it gets two gradients, 1 + 2")


@points(2, "any number of dimensions, forward and backward")
def test_any(yours, rng):
    for _ in range(10):
        shape = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
        dim = rng.randrange(len(shape))
        smaller = [rng.randint(1, 4) if d == dim else rng.randint(1, size) for d, size in enumerate(shape)]
        numbers = np.random.default_rng(rng.randrange(2**32))
        input, index = numbers.integers(0, 99, shape), numbers.integers(0, shape[dim], smaller)
        forward, backward = by_hand(input, dim, index)
        equal(yours.gather(input, dim, index), forward, "element by element")
        equal(yours.gather_backward(forward, tuple(shape), dim, index), backward, "element by element")


def by_hand(input, dim, index):
    """gather, and the backward of its own result, one element at a time."""
    forward, backward = np.zeros(index.shape, input.dtype), np.zeros_like(input)
    for place in itertools.product(*map(range, index.shape)):
        source = place[:dim] + (index[place],) + place[dim + 1 :]
        forward[place] = input[source]
        backward[source] += input[source]
    return forward, backward
