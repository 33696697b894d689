"""Takes -1 for a new dimension as 1."""

FAILS = "test_minus_one_in_front"
SAYS = "no size to keep"


def expand(sizes, strides, new_sizes):
    added = len(new_sizes) - len(sizes)
    if added < 0:
        raise RuntimeError("expand")
    padded, padded_strides = (1,) * added + tuple(sizes), (0,) * added + tuple(strides)
    if any(new not in (size, -1) and size != 1 for size, new in zip(padded, new_sizes)):
        raise RuntimeError("expand")
    out = tuple(size if new == -1 else new for size, new in zip(padded, new_sizes))
    return out, tuple(s if new == size else 0 for s, size, new in zip(padded_strides, padded, out))
