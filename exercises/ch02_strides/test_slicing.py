"""Grades slicing.py."""

from exercises.grading import equal, points, raises, ruler

NAMES = ["size", "stride", "storage_offset"]


def slots(geometry):
    """The slots of (size, stride, storage_offset)."""
    size, stride, offset = geometry
    return [offset + position * stride for position in range(size)]


def ask(yours, dimension, bounds, why):
    """Compare with what Python's own range gives; both are drawn on the storage."""
    size, stride, offset = dimension
    kept = range(size)[slice(*bounds)]
    begin = kept.start
    expected = (len(kept), stride * bounds[2], offset + begin * stride)
    answer = yours.slice_dim(*dimension, *bounds)
    equal(answer, expected, why, names=NAMES, picture=drawn(answer, expected))


def drawn(answer, expected):
    """Both answers on the storage, when they are triples of small ints."""
    triple = type(answer) is tuple and [type(each) for each in answer] == [int, int, int]
    if not triple or not 0 <= answer[0] <= 12:
        return ""
    return ruler(max([0, *slots(expected)]) + 2, yours=slots(answer), expected=slots(expected))


@points(1, "start, stop and step")
def test_plain(yours):
    ask(yours, (10, 1, 0), (2, 8, 1), "elements 2 to 7")
    ask(yours, (10, 1, 0), (None, None, 1), "all of it")
    ask(yours, (4, 1, 0), (3, 1, 1), "stop lies before start: nothing is left, but the slice begins at 3")


@points(1, "the number of elements is rounded up")
def test_step_rounds_up(yours):
    ask(yours, (10, 1, 0), (0, 10, 3), "elements 0, 3, 6, 9: four, although 10/3 is 3.33")


@points(1, "the offset moves by the old stride, the stride grows by the step")
def test_offset_uses_old_stride(yours):
    ask(yours, (6, 2, 1), (1, 6, 2), "element 1 lies one *old stride* after the beginning: 1 + 1*2 = slot 3")


@points(1, "a negative bound counts from the end")
def test_negative_bounds(yours):
    ask(yours, (10, 1, 0), (-3, None, 1), "-3 counts from the end: it is 7")
    ask(yours, (10, 1, 0), (1, -1, 1), "-1 counts from the end: it is 9")


@points(1, "bounds outside are moved to the nearest end")
def test_outside_bounds(yours):
    ask(yours, (5, 1, 0), (-100, 100, 1), "-100 and 100 are moved to the nearest end: 0 and 5")
    ask(yours, (5, 1, 0), (7, 9, 1), "7 is moved to the nearest end: 5, and nothing is left")


@points(1, "a step that is not positive raises ValueError")
def test_step_not_positive(yours):
    raises(ValueError, yours.slice_dim, 5, 1, 0, None, None, -1, why="PyTorch has no negative strides")
    raises(ValueError, yours.slice_dim, 5, 1, 0, None, None, 0, why="a step of 0 never arrives")


@points(1, "any slice")
def test_any(yours, rng):
    for _ in range(100):
        dimension = rng.randint(0, 6), rng.randint(1, 4), rng.randint(0, 5)
        bounds = (
            rng.choice([None, rng.randint(-8, 8)]),
            rng.choice([None, rng.randint(-8, 8)]),
            rng.randint(1, 4),
        )
        ask(yours, dimension, bounds, "compare with range(size)[start:stop:step]")
