"""expand: repeat without copying.

`t.expand(new_sizes)` shows one element many times: a dimension that grows gets stride 0, so every index
along it lands in the same slot. The storage does not change.

    sizes (3, 1), strides (1, 1)   expand(3, 4) -> sizes (3, 4), strides (1, 0)
    sizes (3,),   strides (1,)     expand(2, 3) -> sizes (2, 3), strides (0, 1)
"""


def expand(sizes, strides, new_sizes):
    """Return (sizes, strides) of the expanded tensor, two tuples of ints.

    sizes, strides: of the tensor, tuples of ints, in elements. new_sizes: as many ints or more; they are
    matched from the last dimension, further ones in front are new dimensions. -1 keeps the size of an
    existing dimension. Only dimensions of size 1 can grow; a dimension that does not grow keeps its stride.
    Raises RuntimeError when there are fewer new sizes than dimensions, when a dimension of another size
    than 1 would change, and for -1 in a new dimension (there is no size to keep).
    """
    raise NotImplementedError
