"""Memory formats: channels_last, and what clone() keeps.

A batch of pictures has sizes (N, C, H, W). Contiguous, the pixels of one channel lie together. In
channels_last the channels of one pixel lie together: the order in memory, from outermost to innermost, is
N, H, W, C. The *sizes* stay (N, C, H, W), only the strides tell.

    sizes (2, 3, 4, 5)   contiguous strides     (60, 20, 5, 1)
                         channels_last strides  (60, 1, 15, 3)
"""


def channels_last_strides(sizes):
    """Return the channels_last strides of a 4-dim tensor, a tuple in the order N, C, H, W.

    sizes: the tuple (N, C, H, W). The rule has no exceptions: it is the same when C, H or W is 1.
    """
    # solution
    _, channels, height, width = sizes
    return (channels * height * width, 1, width * channels, channels)
    # end of solution


def clone_strides(sizes, strides):
    """Return the strides that clone() gives (memory_format=torch.preserve_format), a tuple.

    sizes, strides: of the tensor, tuples of ints in elements; no size is 0, no stride is 0. When the tensor
    is dense and does not overlap (its elements fill a row of slots without gaps, in whatever order of
    dimensions), clone keeps its strides. Otherwise it gets dense strides in the same order of dimensions:
    the dimension with the largest stride stays outermost. Dimensions of size 1 are never used; a dense
    tensor keeps their strides too.
    """
    # solution
    inner_first = sorted(range(len(sizes)), key=lambda dim: strides[dim])
    dense, step = [0] * len(sizes), 1
    for dim in inner_first:
        dense[dim] = step
        step *= sizes[dim]
    used = [dim for dim in inner_first if sizes[dim] != 1]
    is_dense = all(dense[dim] == strides[dim] for dim in used)
    return tuple(strides) if is_dense else tuple(dense)
    # end of solution
