"""Between the layouts: to_dense, to_sparse, sparse_mask; and copies of sparse tensors."""
import numpy as np

from ...core import layout as layouts
from ...dispatch.operator import registry
from ...kernels import sparse as kernels
from ...tensor import Tensor, array_of, entries_of, from_array
from ..arguments import as_dtype
from ..convert import cast
from ..declare import publish
from ..node_names import name_node
from .declare import (
    become,
    is_sparse,
    on_sparse,
    parts,
    sparse,
    sparse_dims,
    sparse_operator,
    with_values,
)
from .reading import empty_sparse, require_inside
from .refuse import no_kernel

# ---- sparse to dense ---------------------------------------------------------------------------------------


def dense_gradient(grad, self, masked_grad):
    """The gradient of a sparse tensor that became dense: at its places, or everywhere."""
    if masked_grad is None or masked_grad:
        return grad.sparse_mask(self.coalesce())
    return grad.to_sparse(self.sparse_dim())


@sparse_operator("_to_dense", vjp={"self": dense_gradient})
def to_dense_op(self, dtype=None, masked_grad=None):
    """The strided tensor; entries at one place are added."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return from_array(dense_array(self))


def dense_array(t):
    require_inside(t)
    return kernels.dense(*parts(t), t._shape[:sparse_dims(t)])


def to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor in strided layout: itself if it is so already (and in `dtype`).

    `masked_grad`: whether the gradient holds what belongs to the entries of this tensor alone (True, the default), or
    that of all elements. RuntimeError for a sparse tensor with a dtype.
    """
    if is_sparse(self):
        return to_dense_op(self, dtype, masked_grad)
    return self if dtype is None else self.to(as_dtype(dtype, "to_dense"))


to_dense_op.info.public = publish("to_dense", to_dense, ("Tensor",))


# ---- dense to sparse ---------------------------------------------------------------------------------------

def from_dense(t, count):
    """A coalesced sparse tensor of what is not zero; `count`: how many dimensions get indices."""
    array = array_of(t)
    is_kept = array != 0
    if count < array.ndim:
        is_kept = is_kept.any(tuple(range(count, array.ndim)))
    places = np.array(np.atleast_1d(is_kept).nonzero(), np.int64)[:count].reshape(count, -1) if array.ndim \
        else np.zeros((0, int(is_kept)), np.int64)
    values = array[tuple(places)] if array.ndim else array.reshape(1)[:int(is_kept)]
    return sparse(places, np.ascontiguousarray(values), t._shape, True)


@sparse_operator("_to_sparse", of_strided=True, vjp={"self": lambda grad: grad.to_dense()})
def to_sparse_op(self):
    """The elements that are not zero, with an index for every dimension."""
    return self if is_sparse(self) else from_dense(self, len(self._shape))


@sparse_operator("_to_sparse.sparse_dim", of_strided=True, vjp={"self": lambda grad: grad.to_dense()})
def to_sparse_dim_op(self, sparse_dim):
    """The slices that are not all zero, with an index for each of the first `sparse_dim` dimensions."""
    return self if is_sparse(self) else from_dense(self, sparse_dim)


name_node("_to_sparse", "ToSparseBackward1")
name_node("_to_sparse.sparse_dim", "ToSparseBackward0")


def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """The tensor in sparse layout, coalesced: itself if it is sparse.

    `sparse_dim`: how many dimensions get indices, all unless told; values keep the others. `layout`: torch.sparse_coo,
    or torch.strided for `to_dense`. RuntimeError if there are not so many dimensions.
    """
    if layout is layouts.strided:
        return self.to_dense()
    if sparse_dim is None:
        return self if is_sparse(self) else to_sparse_op(self)
    if sparse_dim.__class__ is not int:
        raise TypeError("to_sparse() received an invalid combination of arguments - got "
                        f"({type(sparse_dim).__name__}), but expected one of:\n"
                        " * (*, torch.layout layout = None, tuple of ints blocksize = None, int dense_dim = None)\n"
                        " * (int sparse_dim)\n")
    if is_sparse(self):
        if sparse_dim != sparse_dims(self):
            raise RuntimeError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() "
                "is not supported"
            )
        return self
    check_sparse_dim(sparse_dim, len(self._shape))
    return to_sparse_dim_op(self, sparse_dim)


def check_sparse_dim(sparse_dim, dims):
    if dims and sparse_dim == 0:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    if not 0 <= sparse_dim <= dims:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{dims}] range, but {sparse_dim} is "
                           "given")


to_sparse_op.info.public = to_sparse_dim_op.info.public = publish("to_sparse", to_sparse, ("Tensor",))


def to_sparse_coo(self):
    """The tensor in coordinate layout: `to_sparse()`."""
    return self.to_sparse()


publish("to_sparse_coo", to_sparse_coo, ("Tensor",))


# ---- the values of one tensor at the places of another -----------------------------------------------------

def values_at(t, mask):
    """The elements of `t`, strided or sparse, at the places of `mask`, as an array (entries of mask, *dense dims)."""
    indices, values = parts(mask)
    require_inside(mask)
    if not is_sparse(t):
        return np.ascontiguousarray(array_of(t)[tuple(indices)]).reshape(values.shape)
    found, sizes = np.zeros(values.shape, t._dtype.numpy), mask._shape[:indices.shape[0]]
    i, j = kernels.matches(kernels.positions(indices, sizes), kernels.positions(parts(t)[0], sizes))
    np.add.at(found, i, parts(t)[1][j])
    return found


def back_to_places(grad, mask, self_layout):
    """From values at places to the tensor they were taken from: what is elsewhere has no gradient."""
    found = registry["_sparse_with_values"](mask, grad)
    return found if self_layout is layouts.sparse_coo else found.to_dense()


@sparse_operator("_values_at", vjp={"self": back_to_places})
def values_at_op(self, mask):
    """The elements of a tensor at the places of a sparse one, (entries, *dense dims)."""
    return from_array(values_at(self, mask))


def mask_gradient(grad, mask, self_layout):
    found = registry["_sparse_with_values"](mask, registry["_values_at"](grad, mask))
    return found if self_layout is layouts.sparse_coo else found.to_dense()


@sparse_operator("sparse_mask", vjp={"self": mask_gradient})
def sparse_mask_op(self, mask):
    """The elements of a tensor at the places of a sparse one, as a sparse tensor."""
    return with_values(mask, values_at(self, mask))


def sparse_mask(self, mask):
    """A sparse tensor with the places of `mask`, which is sparse, and the elements of this tensor there."""
    if self._shape != mask._shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self._shape)} but mask "
            f"has size {list(mask._shape)}"
        )
    if not is_sparse(mask):
        raise no_kernel(sparse_mask_op, (self, mask), "CPU")
    return self if self is mask else sparse_mask_op(self, mask)


sparse_mask_op.info.public = publish("sparse_mask", sparse_mask, ("Tensor",))


# ---- copies ------------------------------------------------------------------------------------------------

@on_sparse("clone")
def clone(keys, self, memory_format=None):
    if memory_format not in (None, layouts.preserve_format):
        raise RuntimeError(f"unsupported memory format option {memory_format_name(memory_format)}")
    indices, values = parts(self)
    return sparse(indices.copy(), values.copy(), self._shape, entries_of(self).is_coalesced)


def memory_format_name(memory_format):
    in_words = {"contiguous_format": "Contiguous", "channels_last": "ChannelsLast"}
    return in_words.get(memory_format.name, memory_format.name)


@on_sparse("_to_copy")
def to_copy(keys, self, dtype, device, memory_format, non_blocking=False):
    if device is not None and device.type != "cpu":
        raise NotImplementedError(f"teachtorch has sparse tensors on the CPU alone, not on {device}")
    indices, values = parts(self)
    return sparse(indices.copy(), cast(values, dtype), self._shape, entries_of(self).is_coalesced)


@on_sparse("copy_")
def copy_(keys, self, src, non_blocking=False):
    if not (is_sparse(self) and is_sparse(src)):
        kinds = [t.type() if isinstance(t, Tensor) else type(t).__name__ for t in (self, src)]
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                           f"{kinds[0]} and src type = {kinds[1]}")
    if sparse_dims(src) != sparse_dims(self) or len(src._shape) != len(self._shape):
        self.sparse_resize_(src._shape, sparse_dims(src), len(src._shape) - sparse_dims(src))
    return become(self, to_copy(keys, src, self._dtype, None, None))


@on_sparse("zero_")
def zero_(keys, self):
    return become(self, empty_sparse(self._shape, self._dtype, sparse_dims(self)))


@on_sparse("alias")
def alias(keys, self):
    return with_values(self, entries_of(self).values)


@on_sparse("zeros_like", "empty_like")
def zeros_like(keys, self, args, dtype, device, memory_format):
    return empty_sparse(self._shape, self._dtype if dtype is None else as_dtype(dtype, "zeros_like"), sparse_dims(self))


@on_sparse("new_zeros", "new_empty")
def new_zeros(keys, self, size, dtype, device):
    return empty_sparse(size, self._dtype if dtype is None else as_dtype(dtype, "new_zeros"))
