"""Grades broadcast_shapes.py."""

import teachtorch as torch
from exercises.grading import equal, points, raises


@points(1, "sizes of 1 are stretched")
def test_stretch(yours):
    equal(yours.broadcast_shapes((3, 1), (1, 4)), (3, 4), "each 1 becomes the size of the other")
    equal(yours.broadcast_shapes((2, 3), (2, 3)), (2, 3), "equal shapes stay")


@points(1, "shapes are matched from the right")
def test_from_the_right(yours):
    equal(yours.broadcast_shapes((2, 3), (3,)), (2, 3), "(3,) is matched with the last dimension")
    equal(yours.broadcast_shapes((2, 1, 4), (3, 1)), (2, 3, 4), "from the right; the first is missing")


@points(1, "any number of shapes, those without dimensions among them")
def test_number(yours):
    equal(yours.broadcast_shapes(), (), "nothing to broadcast")
    equal(yours.broadcast_shapes((), (2,), ()), (2,), "a 0-dim shape fits everything")
    equal(yours.broadcast_shapes((1, 3), (2, 1), (5, 1, 1)), (5, 2, 3), "three shapes")


@points(1, "a 1 meets a 0")
def test_empty(yours):
    equal(yours.broadcast_shapes((1,), (0,)), (0,), "stretched to 0 elements: the larger size is not it")
    raises(RuntimeError, yours.broadcast_shapes, (0,), (2,), why="0 and 2 differ, and neither is 1")


@points(1, "what does not fit raises RuntimeError")
def test_refuses(yours):
    raises(RuntimeError, yours.broadcast_shapes, (2,), (4,), why="only 1 can be stretched, not 2 to 4")
    raises(RuntimeError, yours.broadcast_shapes, (2, 3), (2,), why="matched from the right, 3 meets 2")


@points(1, "which dimension is at fault")
def test_fault(yours):
    equal(yours.dim_at_fault((2, 3), (2,)), -1, "3 meets 2 in the last dimension")
    equal(yours.dim_at_fault((5, 2, 3), (4, 3)), -2, "2 meets 4")
    equal(yours.dim_at_fault((5, 2), (4, 3)), -1, "both are at fault, and the rule begins at the right")
    equal(yours.dim_at_fault((5, 1, 3), (4, 3)), None, "they fit")


@points(1, "along which dimensions an operand is stretched")
def test_stretched(yours):
    equal(yours.stretched_dims((3, 1), (2, 3, 4)), (0, 2), "dimension 0 is missing, dimension 2 is a 1")
    equal(yours.stretched_dims((), (2, 3)), (0, 1), "one element, shown everywhere")
    equal(yours.stretched_dims((1, 3), (1, 3)), (), "a 1 that stays 1 is not stretched")


@points(2, "any shapes, as the library broadcasts them")
def test_any(yours, rng):
    for _ in range(60):
        shapes = [tuple(rng.choice([0, 1, 1, 2, 3]) for _ in range(rng.randint(0, 3))) for _ in range(3)]
        try:
            expected = tuple(sum(torch.zeros(shape) for shape in shapes).shape)
        except RuntimeError:
            raises(RuntimeError, yours.broadcast_shapes, *shapes, why="the library refuses")
            continue
        equal(yours.broadcast_shapes(*shapes), expected, "from the right, and only 1 is stretched")
        for shape in shapes:
            strides = torch.empty_strided(shape, (1,) * len(shape)).expand(expected).stride()
            repeated = tuple(d for d, stride in enumerate(strides) if stride == 0 and expected[d] != 1)
            equal(yours.stretched_dims(shape, expected), repeated, "stride 0 is where it is stretched")
