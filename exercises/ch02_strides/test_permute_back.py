"""Grades permute_back.py."""

from exercises.grading import equal, points, raises


@points(1, "permute moves sizes and strides together")
def test_moves_strides(yours):
    why = "no element moves: dimension k of the result is dimension order[k] of t, with its own stride"
    answer = yours.permute((2, 3, 4), (12, 4, 1), (2, 0, 1))
    equal(answer, ((4, 2, 3), (1, 12, 4)), why, names=["sizes", "strides"])
    equal(yours.permute((2, 3), (3, 1), (1, 0)), ((3, 2), (1, 3)), "a transposed matrix")


@points(1, "negative dimensions count from the end, none comes twice")
def test_dimensions(yours):
    answer = yours.permute((2, 3, 4), (12, 4, 1), (-1, 0, 1))
    equal(answer, ((4, 2, 3), (1, 12, 4)), "-1 is dimension 2", names=["sizes", "strides"])
    raises(
        RuntimeError,
        yours.permute,
        (2, 3),
        (3, 1),
        (0, 0),
        why="dimension 0 comes twice, dimension 1 is lost",
    )
    raises(RuntimeError, yours.permute, (2, 3), (3, 1), (1, -1), why="-1 is dimension 1: it comes twice")


@points(1, "the inverse of a swap is the swap")
def test_inverse_of_a_swap(yours):
    equal(yours.inverse((1, 0)), (1, 0), "a swap is its own inverse")
    equal(yours.inverse((0, 2, 1)), (0, 2, 1), "a swap of two among three is its own inverse")


@points(2, "the inverse of a cycle runs the other way round")
def test_inverse_of_a_cycle(yours):
    why = "in a cycle of three, dimension 0 went to position 1, 1 to 2, 2 to 0: the way back is another one"
    equal(yours.inverse((2, 0, 1)), (1, 2, 0), why, names=["dim 0", "dim 1", "dim 2"])


@points(1, "any tensor: there and back again")
def test_there_and_back(yours, rng):
    for _ in range(30):
        count = rng.randint(1, 6)
        sizes = tuple(rng.randint(1, 9) for _ in range(count))
        strides = tuple(rng.randint(1, 99) for _ in range(count))
        order = tuple(rng.sample(range(count), count))
        there = yours.permute(sizes, strides, order)
        back = yours.permute(*there, yours.inverse(order))
        what = f"permute by {order}, then by its inverse"
        equal(back, (sizes, strides), "it is the tensor we began with", what=what, names=["sizes", "strides"])
