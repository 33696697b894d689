"""Counts in bytes, as NumPy's strides do."""

FAILS = "test_elements_not_bytes"
SAYS = "elements, not bytes"


def storage_position(index, sizes, strides, storage_offset):
    slot = storage_offset
    for position, size, stride in zip(index, sizes, strides):
        if not -size <= position < size:
            raise IndexError(position)
        slot += position % size * stride * 4
    return slot
