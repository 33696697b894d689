"""take_along_dim, and undoing a sort.

gather broadcasts nothing. take_along_dim is gather after broadcasting: x and index are stretched to each
other in every dimension but `dim`.

Sorting gives values and an order: values[i] = x[order[i]]. To put results back into the old places, write
along the order, or read along its inverse.

    x      30 10 20       order    1 2 0       inverse   2 0 1
    values 10 20 30       element 1 came first, so its value is at place 0 of the sorted ones
"""

import teachtorch as torch


def take_along_dim(x, index, dim):
    """Return x.take_along_dim(index, dim): along `dim` the elements that index names.

    x, index: tensors with the same number of dimensions; int64 the index, with entries from 0 to x.shape[dim]
    - 1. In every dimension but `dim` the sizes are equal, or one of them is 1. dim: an int >= 0.
    """
    # solution
    shape = torch.broadcast_shapes(_without(x, dim), _without(index, dim))
    return _grown(x, shape, dim).gather(dim, _grown(index, shape, dim))
    # end of solution


def inverse(order):
    """Return the permutation that undoes each row of `order`: inverse[..., order[..., i]] = i.

    order: int64 tensor; each row of its last dimension is a permutation.
    """
    # solution
    places = torch.arange(order.shape[-1]).expand(tuple(order.shape))
    return torch.zeros_like(order).scatter(-1, order, places)
    # end of solution


def unsort(values, order):
    """Return x, given (values, order) = x.sort(-1); the gradient of `values` passes through.

    values: tensor. order: int64 tensor of the same shape.
    """
    # solution
    return values.gather(-1, inverse(order))
    # end of solution


# solution
def _without(tensor, dim):
    """The sizes, with 1 in place of that of `dim`."""
    return tuple(1 if d == dim else size for d, size in enumerate(tensor.shape))


def _grown(tensor, shape, dim):
    """Stretched in every dimension but `dim`."""
    return tensor.expand(tuple(tensor.shape[d] if d == dim else size for d, size in enumerate(shape)))


# end of solution
