"""Grades contiguous.py."""

import itertools

from exercises.grading import equal, points


def slots(sizes, strides):
    """The slots that a walk in reading order meets."""
    indices = itertools.product(*map(range, sizes))
    return [sum(i * stride for i, stride in zip(index, strides)) for index in indices]


def ask(yours, sizes, strides, why):
    """Compare with the definition: the walk meets slots 0, 1, 2, ..."""
    walk = slots(sizes, strides)
    expected = walk == list(range(len(walk)))
    picture = "the walk meets slots: " + (" ".join(map(str, walk[:12])) or "none")
    equal(yours.is_contiguous(sizes, strides), expected, why, picture=picture)


@points(1, "row after row is contiguous, a transposed tensor is not")
def test_row_major(yours):
    ask(yours, (2, 3), (3, 1), "each step goes to the next slot")
    ask(yours, (2, 3), (1, 2), "a step along the last dimension jumps over a slot")
    ask(yours, (), (), "a 0-dim tensor has one element, so there is nothing to jump over")


@points(1, "the stride of a dimension of size 1 does not matter")
def test_size_one(yours):
    ask(
        yours,
        (4, 1, 3),
        (3, 999, 1),
        "the stride of a dimension of size 1 is never used: its only index is 0",
    )
    ask(yours, (1, 1), (7, 9), "both indices are always 0")


@points(1, "a tensor without elements is contiguous")
def test_no_elements(yours):
    ask(yours, (5, 0), (1, 5), "there is no element that could lie in a wrong slot")


@points(1, "gaps: a last stride of 1 is not enough")
def test_gaps(yours):
    ask(yours, (3, 2), (4, 1), "after each row the walk skips two slots")
    ask(yours, (2, 2, 2), (8, 2, 1), "the outermost step skips four slots")
    ask(yours, (3, 2), (1, 1), "the rows overlap: slots are met twice")


@points(2, "any sizes and strides")
def test_any(yours, rng):
    for _ in range(200):
        sizes = tuple(rng.choice([0, 1, 1, 2, 3]) for _ in range(rng.randint(1, 3)))
        dense = [1]
        for size in reversed(sizes[1:]):
            dense.insert(0, dense[0] * max(size, 1))
        strides = tuple(stride if rng.random() < 0.8 else rng.randint(0, 6) for stride in dense)
        ask(yours, sizes, strides, "compare with the slots that a walk in reading order meets")
