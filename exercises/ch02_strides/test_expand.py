"""Grades expand.py."""

from exercises.grading import equal, points, raises


def ask(yours, sizes, strides, new_sizes, expected, why):
    """Compare sizes and strides, dimension by dimension."""
    equal(yours.expand(sizes, strides, new_sizes), expected, why, names=["sizes", "strides"])


@points(2, "a dimension of size 1 grows with stride 0")
def test_grows_with_stride_0(yours):
    why = "every index along the new dimension must land in the same slot, so its stride must be 0"
    ask(yours, (3, 1), (1, 1), (3, 4), ((3, 4), (1, 0)), why)
    ask(yours, (1, 3), (7, 2), (5, 3), ((5, 3), (0, 2)), why)


@points(1, "a dimension that does not grow keeps its stride; -1 keeps its size")
def test_keeps(yours):
    ask(yours, (3, 1), (9, 1), (-1, 4), ((3, 4), (9, 0)), "-1 keeps size 3, and its stride 9")
    ask(yours, (2, 3), (1, 2), (2, 3), ((2, 3), (1, 2)), "nothing grows")
    ask(yours, (1, 3), (7, 2), (1, -1), ((1, 3), (7, 2)), "a size of 1 that stays 1 does not grow, either")


@points(1, "new dimensions in front")
def test_new_dimensions(yours):
    ask(yours, (3,), (1,), (2, 3), ((2, 3), (0, 1)), "a new dimension repeats the whole tensor: stride 0")
    ask(yours, (), (), (2, 2), ((2, 2), (0, 0)), "one element, seen four times")


@points(1, "only a dimension of size 1 can grow")
def test_only_size_one_grows(yours):
    raises(RuntimeError, yours.expand, (2,), (1,), (4,), why="which of the two elements should be repeated?")
    raises(RuntimeError, yours.expand, (2, 3), (3, 1), (3,), why="fewer sizes than dimensions")
    raises(RuntimeError, yours.expand, (3, 3), (3, 1), (3,), why="fewer sizes than dimensions, although they look alike")


@points(1, "-1 needs a size to keep")
def test_minus_one_in_front(yours):
    raises(
        RuntimeError, yours.expand, (3,), (1,), (-1, 3), why="the new dimension in front has no size to keep"
    )


@points(1, "any tensor")
def test_any(yours, rng):
    for _ in range(50):
        sizes = tuple(rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 3)))
        strides = tuple(rng.randint(1, 9) for _ in sizes)
        grown = tuple(rng.randint(2, 4) if size == 1 else size for size in sizes)
        front = tuple(rng.randint(2, 4) for _ in range(rng.randint(0, 2)))
        kept = tuple(0 if size == 1 else stride for size, stride in zip(sizes, strides))
        expected = (front + grown, (0,) * len(front) + kept)
        ask(
            yours,
            sizes,
            strides,
            front + grown,
            expected,
            "stride 0 where it grows, the old stride elsewhere",
        )
