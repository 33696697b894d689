"""Sums over the dimensions that were added in front, and no others."""

FAILS = "test_grown_dimensions"
SAYS = "size 1"


def unbroadcast(grad, shape):
    return grad.sum(axis=tuple(range(grad.ndim - len(shape))))
