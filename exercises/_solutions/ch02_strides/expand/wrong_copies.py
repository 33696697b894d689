"""Gives the strides of a fresh copy."""

FAILS = "test_grows_with_stride_0"
SAYS = "the same slot"


def expand(sizes, strides, new_sizes):
    added = len(new_sizes) - len(sizes)
    if added < 0 or -1 in new_sizes[:added]:
        raise RuntimeError("expand")
    padded = (1,) * added + tuple(sizes)
    if any(new not in (size, -1) and size != 1 for size, new in zip(padded, new_sizes)):
        raise RuntimeError("expand")
    out = tuple(size if new == -1 else new for size, new in zip(padded, new_sizes))
    step, own = 1, []
    for size in reversed(out):
        own.insert(0, step)
        step *= size
    return out, tuple(own)
