"""Which slot of the storage holds t[i, j, ...]?

A tensor is a storage (one flat row of numbers), sizes, strides and a storage_offset. All of them count
*elements*: the stride of a dimension is the number of slots you move in the storage when its index grows by
one, and storage_offset is the slot of t[0, 0, ...].

    t = arange(12).reshape(3, 4)[:, 1:]   has sizes (3, 3), strides (4, 1), storage_offset 1
    t[1, 2]                               lies in slot 7 of the storage
"""


def storage_position(index, sizes, strides, storage_offset):
    """Return the slot of the storage that holds one element.

    index: a tuple of ints, one for each dimension. A negative index counts from the end of its own
    dimension, as in Python: -1 is the last one. sizes, strides: tuples of ints, one for each dimension, in
    elements. storage_offset: int. Raises IndexError when an index is not in [-size, size) of its dimension.
    """
    # solution
    slot = storage_offset
    for position, size, stride in zip(index, sizes, strides):
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of bounds for a dimension of size {size}")
        slot += position % size * stride
    return slot
    # end of solution
