"""Broadcasts nothing."""

import teachtorch as torch

FAILS = "test_index_grows"
SAYS = "serves both rows of x"


def take_along_dim(x, index, dim):
    return x.gather(dim, index)


def without(tensor, dim):
    return tuple(1 if d == dim else size for d, size in enumerate(tensor.shape))


def grown(tensor, shape, dim):
    return tensor.expand(tuple(tensor.shape[d] if d == dim else size for d, size in enumerate(shape)))


def inverse(order):
    places = torch.arange(order.shape[-1]).expand(tuple(order.shape))
    return torch.zeros_like(order).scatter(-1, order, places)


def unsort(values, order):
    return values.gather(-1, inverse(order))
