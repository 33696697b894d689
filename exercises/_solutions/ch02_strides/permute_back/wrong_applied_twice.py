"""Applies the permutation to itself: right for a cycle of three, wrong for a swap."""

FAILS = "test_inverse_of_a_swap"
SAYS = "its own inverse"


def permute(sizes, strides, order):
    dims = [dim % len(sizes) for dim in order]
    if len(set(dims)) != len(sizes):
        raise RuntimeError("permute")
    return tuple(sizes[dim] for dim in dims), tuple(strides[dim] for dim in dims)


def inverse(order):
    return tuple(order[dim] for dim in order)
