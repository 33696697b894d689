"""Lets a negative index count from the end of the storage."""

FAILS = "test_negative_index"
SAYS = "end of its own dimension"


def storage_position(index, sizes, strides, storage_offset):
    if any(not -size <= position < size for position, size in zip(index, sizes)):
        raise IndexError(index)
    numel = 1
    for size in sizes:
        numel *= size
    slot = sum(position * stride for position, stride in zip(index, strides))
    return storage_offset + slot % numel
