"""Takes an index that is too large for its dimension."""

FAILS = "test_out_of_bounds"
SAYS = "IndexError"


def storage_position(index, sizes, strides, storage_offset):
    slot = storage_offset
    for position, size, stride in zip(index, sizes, strides):
        slot += (position + size if position < 0 else position) * stride
    return slot
