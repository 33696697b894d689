"""Grades offset.py."""

from exercises.grading import equal, points, raises, ruler


def drawn(slot: int, expected: int) -> str:
    """The storage with the slot that was answered and the expected one."""
    length = max(expected, slot if type(slot) is int and slot < 20 else 0) + 2
    return ruler(length, yours=[slot] if type(slot) is int else [], expected=[expected])


@points(1, "a plain index: the sum of index times stride")
def test_elements_not_bytes(yours):
    slot = yours.storage_position((1, 2), (3, 4), (4, 1), 0)
    equal(slot, 6, "1*4 + 2*1 = 6: strides count elements, not bytes", picture=drawn(slot, 6))


@points(1, "the storage_offset is where the tensor begins")
def test_storage_offset(yours):
    slot = yours.storage_position((0, 0), (2, 2), (4, 1), 3)
    equal(slot, 3, "t[0, 0] of a view that begins at slot 3 lies in slot 3", picture=drawn(slot, 3))
    equal(
        yours.storage_position((), (), (), 5),
        5,
        "a 0-dim tensor has one element: the one at its storage_offset",
    )


@points(1, "any strides: transposed, stepped, expanded")
def test_any_strides(yours, rng):
    equal(yours.storage_position((1, 2), (3, 4), (1, 3), 0), 7, "a transposed tensor: 1*1 + 2*3")
    equal(
        yours.storage_position((2, 3), (3, 4), (1, 0), 0),
        2,
        "an expanded dimension has stride 0: its index moves nothing",
    )
    for _ in range(20):
        sizes = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 4)))
        strides = tuple(rng.randint(0, 9) for _ in sizes)
        index, begin = tuple(rng.randrange(size) for size in sizes), rng.randrange(9)
        expected = begin + sum(i * stride for i, stride in zip(index, strides))
        equal(
            yours.storage_position(index, sizes, strides, begin),
            expected,
            "storage_offset + sum of index * stride",
        )


@points(1, "a negative index counts from the end of its own dimension")
def test_negative_index(yours, rng):
    slot = yours.storage_position((0, -1), (2, 3), (3, 1), 0)
    why = "-1 counts from the end of its own dimension (size 3): it is column 2 of row 0"
    equal(slot, 2, why, picture=drawn(slot, 2))
    slot = yours.storage_position((-1, 0), (2, 3), (3, 1), 0)
    equal(slot, 3, "-1 in a dimension of size 2 is row 1: 1*3", picture=drawn(slot, 3))
    size, stride = rng.randint(2, 9), rng.randint(1, 9)
    equal(yours.storage_position((-size,), (size,), (stride,), 1), 1, "-size is the first element")


@points(1, "an index outside its dimension raises IndexError")
def test_out_of_bounds(yours):
    why = "the slot may exist in the storage, but it belongs to another row"
    raises(IndexError, yours.storage_position, (0, 3), (2, 3), (3, 1), 0, why=why)
    raises(IndexError, yours.storage_position, (-3, 0), (2, 3), (3, 1), 0, why=why)
    raises(
        IndexError,
        yours.storage_position,
        (0,),
        (0,),
        (1,),
        0,
        why="a dimension of size 0 has no index at all",
    )
