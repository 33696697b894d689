"""Leaves the stride of a dimension that grows."""

FAILS = "test_grows_with_stride_0"
SAYS = "stride must be 0"


def expand(sizes, strides, new_sizes):
    added = len(new_sizes) - len(sizes)
    if added < 0 or -1 in new_sizes[:added]:
        raise RuntimeError("expand")
    padded, padded_strides = (1,) * added + tuple(sizes), (0,) * added + tuple(strides)
    if any(new not in (size, -1) and size != 1 for size, new in zip(padded, new_sizes)):
        raise RuntimeError("expand")
    return tuple(size if new == -1 else new for size, new in zip(padded, new_sizes)), padded_strides
