"""Makes every clone contiguous."""

FAILS = "test_clone_keeps_dense"
SAYS = "clone keeps its strides"


def channels_last_strides(sizes):
    _, channels, height, width = sizes
    return (channels * height * width, 1, width * channels, channels)


def clone_strides(sizes, strides):
    own, step = [], 1
    for size in reversed(sizes):
        own.insert(0, step)
        step *= size
    return tuple(own)
