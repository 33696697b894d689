"""Applies the order again, which undoes only swaps."""

import teachtorch as torch

FAILS = "test_inverse"
SAYS = "inverse[order[i]] = i"


def take_along_dim(x, index, dim):
    shape = torch.broadcast_shapes(without(x, dim), without(index, dim))
    return grown(x, shape, dim).gather(dim, grown(index, shape, dim))


def without(tensor, dim):
    return tuple(1 if d == dim else size for d, size in enumerate(tensor.shape))


def grown(tensor, shape, dim):
    return tensor.expand(tuple(tensor.shape[d] if d == dim else size for d, size in enumerate(shape)))


def inverse(order):
    return order.clone()


def unsort(values, order):
    return values.gather(-1, inverse(order))
