"""Stretches the index to x, and never x to the index."""

import teachtorch as torch

FAILS = "test_x_grows"
SAYS = "serves both rows of index"


def take_along_dim(x, index, dim):
    shape = without(x, dim)
    fits = all(mine in (1, size) for mine, size in zip(without(index, dim), shape))
    return x.gather(dim, grown(index, shape, dim) if fits else index[: len(x)])


def without(tensor, dim):
    return tuple(1 if d == dim else size for d, size in enumerate(tensor.shape))


def grown(tensor, shape, dim):
    return tensor.expand(tuple(tensor.shape[d] if d == dim else size for d, size in enumerate(shape)))


def inverse(order):
    places = torch.arange(order.shape[-1]).expand(tuple(order.shape))
    return torch.zeros_like(order).scatter(-1, order, places)


def unsort(values, order):
    return values.gather(-1, inverse(order))
