"""Stretches the index along dim, too."""

import teachtorch as torch

FAILS = "test_not_along_dim"
SAYS = "one element of each row"


def take_along_dim(x, index, dim):
    shape = torch.broadcast_shapes(without(x, dim), without(index, dim))
    if index.shape[dim] == 1:
        index = index.expand(torch.broadcast_shapes(tuple(index.shape), tuple(x.shape)))
    return grown(x, shape, dim).gather(dim, grown(index, shape, dim))


def without(tensor, dim):
    return tuple(1 if d == dim else size for d, size in enumerate(tensor.shape))


def grown(tensor, shape, dim):
    return tensor.expand(tuple(tensor.shape[d] if d == dim else size for d, size in enumerate(shape)))


def inverse(order):
    places = torch.arange(order.shape[-1]).expand(tuple(order.shape))
    return torch.zeros_like(order).scatter(-1, order, places)


def unsort(values, order):
    return values.gather(-1, inverse(order))
