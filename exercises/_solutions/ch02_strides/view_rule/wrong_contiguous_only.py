"""Views only what is contiguous."""

FAILS = "test_inside_a_chunk"
SAYS = "a view is possible"


def compute_view_strides(sizes, strides, new_sizes):
    if 0 in sizes and tuple(sizes) == tuple(new_sizes):
        return tuple(strides)
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if 0 not in sizes and size != 1 and stride != expected:
            return None
        expected *= size
    return contiguous(new_sizes)


def contiguous(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)
