"""Is content when the number of elements matches."""

FAILS = "test_over_two_chunks"
SAYS = "over two chunks"


def compute_view_strides(sizes, strides, new_sizes):
    if tuple(sizes) == tuple(new_sizes):
        return tuple(strides)
    new_strides, step = [], 1
    for size in reversed(new_sizes):
        new_strides.insert(0, step)
        step *= max(size, 1)
    return tuple(new_strides)
