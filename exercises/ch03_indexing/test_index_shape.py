"""Grades index_shape.py."""

import teachtorch as torch
from exercises.grading import equal, points, raises


def real(sizes, key):
    """The shape that the library gives."""
    real_key = [slice(None) if entry == ":" else entry for entry in key]
    tensors = [torch.zeros(e, dtype=torch.int64) if isinstance(e, tuple) else e for e in real_key]
    return tuple(torch.zeros(sizes)[tuple(tensors)].shape)


def ask(yours, sizes, key, why):
    equal(yours.result_shape(sizes, key), real(sizes, key), why)


@points(1, "integers, slices and None")
def test_basic(yours):
    ask(yours, (2, 3, 4), [], "an empty key keeps everything")
    ask(yours, (2, 3, 4), [1], "the first dimension goes, the others stay")
    ask(yours, (2, 3, 4), [":", -1], "the second dimension goes")
    ask(yours, (2, 3), [None, ":", None], "None takes no dimension and makes one of size 1")


@points(1, "an index tensor: its dimensions stand in place of the one it takes")
def test_one(yours):
    ask(yours, (2, 3), [(5,)], "five rows are picked")
    ask(yours, (2, 3, 4), [":", (5, 6)], "the block stands where the index tensor stood")
    ask(yours, (2, 3), [()], "an index tensor without dimensions adds none")


@points(1, "several index tensors are broadcast with each other")
def test_several(yours):
    ask(yours, (2, 3), [(7,), (7,)], "seven pairs of row and column: one dimension, not two")
    ask(yours, (2, 3), [(4, 1), (5,)], "(4, 1) and (5,) broadcast to (4, 5)")


@points(1, "side by side: in the place of the first")
def test_together(yours):
    ask(yours, (2, 3, 4, 5), [":", (6,), (6,)], "they stand side by side, so the block stands at dimension 1")


@points(1, "separated by a slice or by None: in front")
def test_apart(yours):
    ask(yours, (2, 3, 4), [":", (6,), ":"][:2], "one index tensor alone is never apart")
    ask(yours, (2, 3, 4, 5), [":", (6,), ":", (6,)], "a slice separates them, so the block comes first")
    ask(yours, (2, 3, 4), [":", (6,), None, (6,)], "None separates them, so the block comes first")


@points(1, "an integer separates nothing, and is no index tensor")
def test_integer(yours):
    ask(yours, (2, 3, 4, 5), [":", (6,), 0, (6,)], "the integer is gone first: then they stand side by side")
    ask(yours, (2, 3, 4), [0, ":", (6,)], "the integer is gone first (NumPy takes it for an index tensor)")


@points(1, "what does not fit raises IndexError")
def test_errors(yours):
    raises(IndexError, yours.result_shape, (2, 3), [0, 0, 0], why="two dimensions, three integers")
    raises(IndexError, yours.result_shape, (2, 3), [":", 3], why="dimension 1 has the indices 0 to 2")
    raises(IndexError, yours.result_shape, (2, 3), [(2,), (3,)], why="2 and 3 do not broadcast")


@points(2, "any key")
def test_any(yours, rng):
    for _ in range(40):
        sizes = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 5)))
        key = []
        for _ in range(rng.randint(0, len(sizes))):
            key.append(rng.choice([":", 0, (4,), (2, 1), (2, 4)]))
            if rng.random() < 0.2:
                key.append(None)
        ask(yours, sizes, key, "the integers first, then the block of the index tensors")
