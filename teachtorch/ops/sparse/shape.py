"""Other shapes: the indices change, or the values do; no element is looked at twice."""
import numpy as np

from ...core import geometry
from ...dispatch.operator import registry
from ...kernels import rows
from ...tensor import array_of, entries_of, from_array
from ..declare import exports, publish, taking_out
from ..elementwise import common_dtype
from .declare import (
    become,
    is_sparse,
    on_sparse,
    parts,
    sparse,
    sparse_dims,
    with_values,
)
from .pointwise import in_dtype

# ---- order of dimensions -----------------------------------------------------------------------------------


def swapped(t, dim0, dim1):
    """Two dimensions, both sparse or both dense, in each other's place."""
    dims = len(t._shape)
    dim0, dim1 = geometry.wrap_dim(dim0, dims), geometry.wrap_dim(dim1, dims)
    order = list(range(dims))
    order[dim0], order[dim1] = dim1, dim0
    if dim0 == dim1:
        return with_values(t, entries_of(t).values)
    if (dim0 < sparse_dims(t)) != (dim1 < sparse_dims(t)):
        raise RuntimeError("sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
                           f"{sparse_dims(t)}, d0: {dim0}, d1: {dim1}")
    return ordered(t, order)


def ordered(t, order):
    """The dimensions in another order; sparse ones come first."""
    count = sparse_dims(t)
    indices, values = parts(t)
    dense = [d - count + 1 for d in order[count:]]
    is_as_before = list(order[:count]) == list(range(count))
    return sparse(indices[list(order[:count])], values.transpose(0, *dense), tuple([t._shape[d] for d in order]),
                  is_as_before and entries_of(t).is_coalesced)


@on_sparse("transpose")
def transpose(keys, self, dim0, dim1):
    return swapped(self, dim0, dim1)


@on_sparse("t")
def t(keys, self):
    dense = len(self._shape) - sparse_dims(self)
    if dense or sparse_dims(self) > 2:
        raise RuntimeError("t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
                           f"{sparse_dims(self)} sparse and {dense} dense dimensions")
    return swapped(self, 0, 1) if len(self._shape) == 2 else swapped(self, 0, 0) if self._shape else self


@on_sparse("transpose_")
def transpose_(keys, self, dim0, dim1):
    return become(self, swapped(self, dim0, dim1))


@on_sparse("t_")
def t_(keys, self):
    return become(self, t(keys, self))


@on_sparse("permute")
def permute(keys, self, dims):
    geometry.permute(self._shape, self._stride, 0, dims)
    order = [geometry.wrap_dim(d, len(self._shape)) for d in dims]
    count = sparse_dims(self)
    if any(d >= count for d in order[:count]):
        raise RuntimeError("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed."
                           "Only transpositions within sparse and dense dimensions are supported.")
    return ordered(self, order)


@on_sparse("unsqueeze")
def unsqueeze(keys, self, dim):
    dims, count = len(self._shape), sparse_dims(self)
    dim = geometry.wrap_dim(dim, dims + 1)
    shape = (*self._shape[:dim], 1, *self._shape[dim:])
    indices, values = parts(self)
    if dim <= count:
        return sparse(np.insert(indices, dim, 0, 0), values, shape)
    return sparse(indices, np.expand_dims(values, dim - count + 1), shape)


# ---- parts -------------------------------------------------------------------------------------------------

@on_sparse("select")
def select(keys, self, dim, index):
    geometry.select(self._shape, self._stride, 0, dim, int(index))      # PyTorch's errors
    dim = geometry.wrap_dim(dim, len(self._shape))
    index = int(index) + (self._shape[dim] if index < 0 else 0)
    return one_slice(self, dim, index)


def one_slice(t, dim, index):
    """The slice at `index` of a dimension: strided if no sparse dimension is left."""
    count, shape = sparse_dims(t), t._shape[:dim] + t._shape[dim + 1:]
    indices, values = parts(t)
    if dim >= count:
        return sparse(indices, values.take(index, dim - count + 1), shape)
    is_here = indices[dim] == index
    if count == 1:
        return from_array(np.asarray(np.add.reduce(values[is_here], 0, values.dtype)))
    return sparse(np.delete(indices, dim, 0)[:, is_here], values[is_here], shape)


@on_sparse("unbind")
def unbind(keys, self, dim=0):
    dim = geometry.wrap_dim(dim, len(self._shape))
    return tuple([one_slice(self, dim, index) for index in range(self._shape[dim])])


@on_sparse("index_select")
def index_select(keys, self, dim, index):
    dim = geometry.wrap_dim(dim, len(self._shape))
    wanted = array_of(index).astype(np.int64)
    outside = rows.first_outside(wanted, self._shape[dim])
    if outside is not None:
        raise IndexError(f"index_select(): index contains {outside} that is out of range for tensor of size "
                         f"{list(self._shape)} at dimension {dim}")
    shape, count = (*self._shape[:dim], wanted.size, *self._shape[dim + 1:]), sparse_dims(self)
    indices, values = parts(self)
    if dim >= count:
        return sparse(indices, values.take(wanted, dim - count + 1), shape)
    picks, place = picked(indices[dim], wanted)
    chosen = indices[:, picks]
    chosen[dim] = place
    return sparse(chosen, values[picks], shape)


def picked(row, wanted):
    """(entries, places): for every wanted index in turn, the entries that have it."""
    order = row.argsort(kind="stable")
    first = row[order].searchsorted(wanted, "left")
    counts = row[order].searchsorted(wanted, "right") - first
    place = np.repeat(np.arange(wanted.size), counts)
    within = np.arange(place.size) - np.repeat(counts.cumsum() - counts, counts)
    return order[np.repeat(first, counts) + within], place


strided_narrow_copy = {space: exports[space]["narrow_copy"] for space in ("", "Tensor")}


def narrow_copy(self, dim, start, length):
    """The part from `start` of a dimension, in memory of its own."""
    if not is_sparse(self):
        return strided_narrow_copy["Tensor"](self, dim, start, length)
    dims = len(self._shape)
    geometry.narrow(self._shape, self._stride, 0, dim, start, length)
    dim = geometry.wrap_dim(dim, dims)
    start = start + self._shape[dim] if start < 0 else start
    shape, count = (*self._shape[:dim], length, *self._shape[dim + 1:]), sparse_dims(self)
    indices, values = parts(self)
    if dim >= count:
        return sparse(indices, values.take(range(start, start + length), dim - count + 1), shape)
    is_here = (indices[dim] >= start) & (indices[dim] < start + length)
    chosen = indices[:, is_here]
    chosen[dim] -= start
    return sparse(chosen, values[is_here], shape)


publish("narrow_copy", taking_out(narrow_copy), ("", "Tensor"))


# ---- several tensors ---------------------------------------------------------------------------------------

@on_sparse("cat")
def cat(keys, tensors, dim=0):
    for position, one in enumerate(tensors):
        if not is_sparse(one):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {position}.")
    first = tensors[0]
    dim = geometry.wrap_dim(dim, len(first._shape))
    for position, one in enumerate(tensors):
        if one._shape[:dim] + one._shape[dim + 1:] != first._shape[:dim] + first._shape[dim + 1:]:
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first._shape)} (except in the concatenating "
                f"dimension), but found shape: {list(one._shape)} at position {position}."
            )
        if sparse_dims(one) != sparse_dims(first):
            raise RuntimeError("All tensors must have the same number of sparse and dense dimensions at position "
                               f"{position}.")
    if len(tensors) == 1:
        return registry["clone"](first, None)
    return joined(tensors, dim, common_dtype(tensors))


def joined(tensors, dim, dtype):
    count, starts = sparse_dims(tensors[0]), np.cumsum([0] + [one._shape[dim] for one in tensors])
    shape = (*tensors[0]._shape[:dim], int(starts[-1]), *tensors[0]._shape[dim + 1:])
    all_indices, all_values = zip(*[in_dtype(one, dtype) for one in tensors])
    if dim < count:
        moved = [indices.copy() for indices in all_indices]
        for indices, start in zip(moved, starts):
            indices[dim] += start
        return sparse(np.concatenate(moved, 1), np.concatenate(all_values), shape)
    axis = dim - count + 1
    padded = [np.zeros((values.shape[0], *shape[count:]), values.dtype) for values in all_values]
    for space, values, start in zip(padded, all_values, starts):
        space[(slice(None),) * axis + (slice(start, start + values.shape[axis]),)] = values
    return sparse(np.concatenate(all_indices, 1), np.concatenate(padded), shape)


@on_sparse("stack")
def stack(keys, tensors, dim=0):
    dim = geometry.wrap_dim(dim, len(tensors[0]._shape) + 1)
    return cat(keys, [unsqueeze(keys, one, dim) for one in tensors], dim)


