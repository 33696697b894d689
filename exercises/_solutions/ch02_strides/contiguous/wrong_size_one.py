"""Also compares the strides of dimensions of size 1."""

FAILS = "test_size_one"
SAYS = "size 1 is never used"


def is_contiguous(sizes, strides):
    if 0 in sizes:
        return True
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if stride != expected:
            return False
        expected *= size
    return True
