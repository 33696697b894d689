"""Grades unbroadcast.py."""

import numpy as np

from exercises.grading import equal, points

ONES = np.ones((2, 3, 4))


@points(1, "dimensions that were added in front are summed away")
def test_added_in_front(yours):
    grad = np.array([[1.0, 2.0], [10.0, 20.0]])
    equal(
        yours.unbroadcast(grad, (2,)),
        np.array([11.0, 22.0]),
        "each element was used in two rows: the uses add up",
    )
    equal(
        yours.unbroadcast(ONES, ()),
        np.array(24.0),
        "a 0-dim operand was used 24 times: a 0-dim array comes back",
    )


@points(1, "dimensions of size 1 that grew are summed")
def test_grown_dimensions(yours):
    grad = np.array([[1.0, 2.0], [10.0, 20.0]])
    equal(
        yours.unbroadcast(grad, (1, 2)), np.array([[11.0, 22.0]]), "dimension 0 had size 1: both rows used it"
    )


@points(1, "a dimension of size 1 stays a dimension")
def test_keeps_dimensions_of_size_1(yours):
    grad = np.array([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
    why = "the gradient has the shape of the operand, (3, 1), not (3,)"
    equal(yours.unbroadcast(grad, (3, 1)), np.array([[3.0], [30.0], [300.0]]), why)


@points(1, "nothing was broadcast, nothing is there")
def test_nothing_to_sum(yours):
    grad = np.arange(6.0).reshape(2, 3)
    equal(yours.unbroadcast(grad, (2, 3)), grad, "the shapes are the same: the gradient as it is")
    equal(
        yours.unbroadcast(np.ones((0, 3)), (1, 3)), np.zeros((1, 3)), "no use at all: a sum over nothing is 0"
    )
    equal(yours.unbroadcast(np.ones(2, np.float32), (2,)), np.ones(2, np.float32), "the dtype stays float32")


@points(1, "both at once, any shape")
def test_any(yours, rng):
    for _ in range(30):
        shape = tuple(rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 3)))
        grown = tuple(rng.randint(1, 3) if size == 1 else size for size in shape)
        front = tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))
        grad = np.array(
            np.random.default_rng(rng.randrange(2**32)).integers(0, 9, front + grown), dtype=float
        )
        expected = np.zeros(shape)
        for place in np.ndindex(grad.shape):
            expected[tuple(0 if size == 1 else i for size, i in zip(shape, place[len(front) :]))] += grad[
                place
            ]
        equal(
            yours.unbroadcast(grad, shape),
            expected,
            "every element of grad is added to the element it came from",
        )
