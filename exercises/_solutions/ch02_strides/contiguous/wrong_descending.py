"""Is content with a last stride of 1 and strides that do not grow."""

FAILS = "test_gaps"
SAYS = "skips"


def is_contiguous(sizes, strides):
    used = [stride for size, stride in zip(sizes, strides) if size != 1]
    if 0 in sizes or not used:
        return True
    return used[-1] == 1 and used == sorted(used, reverse=True)
