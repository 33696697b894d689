"""Compares strides even when there is no element."""

FAILS = "test_no_elements"
SAYS = "no element"


def is_contiguous(sizes, strides):
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True
