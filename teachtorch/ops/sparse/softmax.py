"""torch.sparse.softmax: entries that are not there count as minus infinity, not as zero."""
import numpy as np

from ...core import geometry
from ...kernels import sparse as kernels
from ..arguments import as_dtype
from ..declare import publish
from .declare import is_sparse, parts, sparse_dims, sparse_operator, with_values
from .reading import coalesced
from .refuse import no_kernel


def groups_along(t, dim):
    """(group of each entry, number of groups): entries that differ in dimension `dim` alone belong together."""
    indices, _ = parts(t)
    others = np.delete(indices, dim, 0)
    sizes = t._shape[:dim] + t._shape[dim + 1:sparse_dims(t)]
    _, group = np.unique(kernels.positions(others, sizes) if len(others) else np.zeros(indices.shape[1], np.int64),
                         return_inverse=True)
    return group, int(group.max(initial=-1)) + 1


def over(t, dim, values, ufunc, start):
    """For each entry, the reduction of `values` over its group (a sparse `dim`) or over a dense dimension."""
    count = sparse_dims(t)
    if dim >= count:
        return ufunc.reduce(values, dim - count + 1, keepdims=True)
    group, number = groups_along(t, dim)
    found = np.full((number, *values.shape[1:]), start, values.dtype)
    ufunc.at(found, group, values)
    return found[group]


def shifted(t, dim):
    """The values less their group's largest one."""
    values = parts(t)[1]
    return values - over(t, dim, values, np.maximum, -np.inf)


def softmax_gradient(grad, result, dim):
    """result * (grad - sum(grad * result)), at the result's places."""
    return softmax_backward_op(grad.sparse_mask(result), result, dim)


def log_softmax_gradient(grad, result, dim):
    return log_softmax_backward_op(grad.sparse_mask(result), result, dim)


@sparse_operator("_sparse_softmax", jvp=None, vjp={"self": softmax_gradient})
def softmax_op(self, dim):
    """Softmax over the entries along a dimension."""
    self = coalesced(self)
    powers = np.exp(shifted(self, dim))
    return with_values(self, powers / over(self, dim, powers, np.add, 0))


@sparse_operator("_sparse_log_softmax", jvp=None, vjp={"self": log_softmax_gradient})
def log_softmax_op(self, dim):
    """The logarithm of `_sparse_softmax`."""
    self = coalesced(self)
    values = shifted(self, dim)
    return with_values(self, values - np.log(over(self, dim, np.exp(values), np.add, 0)))


@sparse_operator("_sparse_softmax_backward_data")
def softmax_backward_op(grad, output, dim):
    """The gradient of `_sparse_softmax`, for a gradient with the places of the output."""
    g, y = parts(grad)[1], parts(output)[1]
    return with_values(output, y * (g - over(output, dim, g * y, np.add, 0)))


@sparse_operator("_sparse_log_softmax_backward_data")
def log_softmax_backward_op(grad, output, dim):
    """The gradient of `_sparse_log_softmax`, for a gradient with the places of the output."""
    g, y = parts(grad)[1], parts(output)[1]
    return with_values(output, g - np.exp(y) * over(output, dim, g, np.add, 0))


def public(name, op):
    def function(input, dim, *, dtype=None):
        if not is_sparse(input):
            raise no_kernel(op, (input, dim), "CPU")
        input = input if dtype is None else input.to(as_dtype(dtype, name))
        return op(input, geometry.wrap_dim(dim, len(input._shape)))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"{name} over the entries along `dim`: elements that are not there count as minus infinity, so "
                        "that they stay out (torch.sparse). `dtype`: of the result.")
    op.info.public = publish(name, function, ("sparse",))


public("softmax", softmax_op)
public("log_softmax", log_softmax_op)
