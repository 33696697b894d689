"""Sums of sparse tensors: over dense dimensions the values shrink, over sparse ones indices go away."""
import numpy as np

from ...dispatch import keys as K
from ...dispatch.operator import registry
from ...kernels import sparse as kernels
from ...tensor import entries_of, from_array
from ..arguments import as_dtype
from ..convert import cast
from ..declare import publish
from ..reduction import sum_dtype
from ..reduction_arguments import dims_of
from .declare import is_sparse, on_sparse, parts, sparse, sparse_dims, sparse_operator
from .reading import coalesced, require_inside, require_sparse
from .refuse import no_kernel
from .shape import unsqueeze


@on_sparse("sum")
def sum_(keys, self, dtype=None):
    return registry["sum"].redispatch(K.CPU, entries_of(self).values, dtype)


@on_sparse("sum_dim")
def sum_dim(keys, self, dim=None, keepdim=False, dtype=None):
    dims = dims_of(dim, len(self._shape))
    found = sum_over(self, dims, dtype or sum_dtype(self._dtype))
    for d in sorted(dims) if keepdim else ():
        found = unsqueeze(keys, found, d) if is_sparse(found) else found.unsqueeze(d)
    return found


def sum_over(t, dims, dtype):
    """The sum over some dimensions: sparse and coalesced, strided if no sparse dimension is left."""
    require_inside(t)
    indices, values = parts(t)
    count = sparse_dims(t)
    values = cast(values, dtype)
    values = values.sum(tuple([d - count + 1 for d in dims if d >= count]), dtype=values.dtype)
    kept = [d for d in range(count) if d not in dims]
    shape = tuple([size for d, size in enumerate(t._shape) if d not in dims])
    if not kept:
        return from_array(np.asarray(np.add.reduce(values, 0, values.dtype)))
    return sparse(*kernels.coalesced(indices[kept], values, shape[:len(kept)]), shape, True)


# ---- torch.sparse.sum: the gradient is sparse --------------------------------------------------------------

def summed_gradient(grad, self, dim):
    """The gradient at this tensor's places, repeated along the dimensions that were summed over."""
    grad = grad.to_dense()
    for d in sorted(dims_of(dim, len(self._shape))):
        grad = grad.unsqueeze(d)
    return grad.expand(self._shape).sparse_mask(self.coalesce())


@sparse_operator("_sparse_sum", vjp={"self": summed_gradient})
def sparse_sum_op(self, dim):
    """The sum over some dimensions."""
    return sum_over(self, dims_of(dim, len(self._shape)), self._dtype)


def sparse_sum(input, dim=None, dtype=None):
    """The sum of all elements, or over `dim`: sparse while a sparse dimension is left (torch.sparse.sum).

    The gradient is sparse: it holds what belongs to the entries of `input`. `dtype`: of the sum.
    """
    if dtype is not None:
        input = input.to(as_dtype(dtype, "sum"))
    if dim is None:
        require_sparse(input, "coalesce")
        return input.coalesce().values().sum()
    if dim == () or dim == []:
        return input.coalesce()
    return sparse_sum_op(input, dim)


sparse_sum_op.info.public = publish("sum", sparse_sum, ("sparse",))


# ---- norms -------------------------------------------------------------------------------------------------

@on_sparse("linalg.vector_norm")
def vector_norm(keys, self, ord=2, dim=None, keepdim=False, dtype=None):
    """Of all elements alone: zeros add nothing."""
    if dim is not None or keepdim:
        raise no_kernel(registry["linalg.vector_norm"], (self, ord, dim, keepdim, dtype))
    return registry["linalg.vector_norm"].redispatch(K.CPU, entries_of(coalesced(self)).values, ord, None, False, dtype)
