"""What a kernel gets of a tensor: flat memory that starts at its first element, and steps through it."""


class Strided:
    """Elements in device memory.

    Args:
        memory: a flat device array that starts at the first element.
        shape: the sizes.
        strides: how many elements lie between neighbours in each dimension.
    """

    __slots__ = ("memory", "shape", "strides")

    def __init__(self, memory, shape, strides):
        self.memory, self.shape, self.strides = memory, tuple(shape), tuple(strides)

    @property
    def dtype(self):
        return self.memory.dtype

    @property
    def size(self):
        return size_of(self.shape)

    def is_contiguous(self):
        return self.strides == contiguous_strides(self.shape)

    def broadcast(self, shape):
        """The steps with which this is read as if it had `shape`."""
        missing = len(shape) - len(self.shape)
        steps = [0 if size == 1 else step for size, step in zip(self.shape, self.strides)]
        return (0,) * missing + tuple(steps)


def size_of(shape):
    size = 1
    for length in shape:
        size *= length
    return size


def contiguous_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def collapsed(shape, steps):
    """The fewest dimensions that walk the same elements in the same order.

    Args:
        shape: the sizes.
        steps: for each array, its steps in elements.
    Returns:
        (shape, steps), where neighbouring dimensions that all arrays walk as one have become one.
    """
    dims = [(size, *walk) for size, *walk in zip(shape, *steps) if size != 1] or [(1, *[0] * len(steps))]
    merged = [dims[0]]
    for size, *walk in dims[1:]:
        outer, *outer_walk = merged[-1]
        if all(step == inner * size for step, inner in zip(outer_walk, walk)):
            merged[-1] = (outer * size, *walk)
        else:
            merged.append((size, *walk))
    sizes, *walks = zip(*merged)
    return sizes, walks
