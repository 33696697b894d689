"""Keeps the strides even of a tensor with gaps."""

FAILS = "test_clone_closes_gaps"
SAYS = "gaps"


def channels_last_strides(sizes):
    _, channels, height, width = sizes
    return (channels * height * width, 1, width * channels, channels)


def clone_strides(sizes, strides):
    return tuple(strides)
