"""Writes the strides in the order in which the dimensions lie in memory."""

FAILS = "test_channels_last"
SAYS = "in the order N, C, H, W"


def channels_last_strides(sizes):
    _, channels, height, width = sizes
    return (height * width * channels, width * channels, channels, 1)


def clone_strides(sizes, strides):
    inner_first = sorted(range(len(sizes)), key=lambda dim: strides[dim])
    dense, step = [0] * len(sizes), 1
    for dim in inner_first:
        dense[dim] = step
        step *= sizes[dim]
    is_dense = all(dense[dim] == strides[dim] for dim in inner_first if sizes[dim] != 1)
    return tuple(strides) if is_dense else tuple(dense)
