"""Undoes a permutation by doing it again, which only works for swaps."""

FAILS = "test_inverse_of_a_cycle"
SAYS = "a cycle of three"


def permute(sizes, strides, order):
    dims = [dim % len(sizes) for dim in order]
    if len(set(dims)) != len(sizes):
        raise RuntimeError("permute")
    return tuple(sizes[dim] for dim in dims), tuple(strides[dim] for dim in dims)


def inverse(order):
    return tuple(order)
