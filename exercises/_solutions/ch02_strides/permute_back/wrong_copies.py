"""Permutes the sizes, and gives the strides of a fresh copy."""

FAILS = "test_moves_strides"
SAYS = "no element moves"


def permute(sizes, strides, order):
    dims = [dim % len(sizes) for dim in order]
    if len(set(dims)) != len(sizes):
        raise RuntimeError("permute")
    out, own, step = tuple(sizes[dim] for dim in dims), [], 1
    for size in reversed(out):
        own.insert(0, step)
        step *= size
    return out, tuple(own)


def inverse(order):
    return tuple(order.index(dim) for dim in range(len(order)))
