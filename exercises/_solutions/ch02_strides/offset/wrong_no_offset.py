"""Begins every tensor at slot 0."""

FAILS = "test_storage_offset"
SAYS = "begins at slot 3"


def storage_position(index, sizes, strides, storage_offset):
    slot = 0
    for position, size, stride in zip(index, sizes, strides):
        if not -size <= position < size:
            raise IndexError(position)
        slot += position % size * stride
    return slot
