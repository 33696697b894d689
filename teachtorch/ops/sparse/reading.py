"""What a sparse tensor holds: indices, values, how many, and whether they are coalesced."""
import numpy as np

from ...core import layout as layouts
from ...dispatch import keys as K
from ...dispatch.operator import registry
from ...kernels import sparse as kernels
from ...tensor import Entries, Tensor, entries_of, method, same_memory
from ..declare import publish
from .declare import (
    become,
    entry_count,
    is_sparse,
    layout_name,
    parts,
    sparse,
    sparse_dims,
    sparse_operator,
)
from .refuse import NO_KERNEL

# ---- layout ------------------------------------------------------------------------------------------------

Tensor.layout = property(lambda self: layouts.sparse_coo if self._keys & K.SPARSE_CPU else layouts.strided,
                         doc="How the elements are kept: torch.strided or torch.sparse_coo.")
Tensor.is_sparse = property(lambda self: bool(self._keys & K.SPARSE_CPU), doc="Whether the layout is torch.sparse_coo.")


def require_sparse(t, name, kind="sparse coordinate tensor layout"):
    if not is_sparse(t):
        raise RuntimeError(f"{name} expected {kind} but got {layout_name(t)}")


def require_entries(t, name):
    """PyTorch's words of those that are operators of sparse tensors alone."""
    if not is_sparse(t):
        raise NotImplementedError(NO_KERNEL.format(f"aten::{name}", K.name_of(t._keys & K.BACKENDS), "SparseCPU"))


def sparse_dim(self):
    """How many dimensions have indices: the first ones. 0 for a strided tensor."""
    return sparse_dims(self) if is_sparse(self) else 0


def dense_dim(self):
    """How many dimensions each value has; all of a strided tensor's."""
    return len(self._shape) - sparse_dim(self)


def nnz(self):
    """The number of entries that are kept, zeros and repeats among them."""
    require_entries(self, "_nnz")
    return entry_count(self)


def is_coalesced(self):
    """Whether it is known that no place occurs twice and the places ascend. RuntimeError for strided tensors."""
    require_sparse(self, "is_coalesced")
    return entries_of(self).is_coalesced


def raw_indices(self):
    """The indices as they are, of shape (sparse dims, entries)."""
    require_entries(self, "_indices")
    return same_memory(entries_of(self).indices)


def raw_values(self):
    """The values as they are, (entries, *dense dims), outside of the graph."""
    require_entries(self, "_values")
    return same_memory(entries_of(self).values)


def coalesced_(self, coalesced):
    """Declare the tensor to be coalesced, or not to be; nothing is checked."""
    require_entries(self, "_coalesced_")
    entries = entries_of(self)
    self._storage = Entries(entries.indices, entries.values, coalesced)
    return self


def indices(self):
    """The indices of a coalesced tensor, (sparse dims, entries). RuntimeError for others."""
    require_sparse(self, "indices")
    require_coalesced(self, "indices")
    return same_memory(entries_of(self).indices)


def require_coalesced(t, what):
    if not entries_of(t).is_coalesced:
        raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")


for _name, _function in {"sparse_dim": sparse_dim, "dense_dim": dense_dim, "_nnz": nnz, "is_coalesced": is_coalesced,
                         "_indices": raw_indices, "_values": raw_values, "_coalesced_": coalesced_,
                         "indices": indices}.items():
    publish(_name, _function, ("Tensor",))


# ---- values, coalesce --------------------------------------------------------------------------------------

@sparse_operator("values", vjp={"self": lambda grad, self: registry["_sparse_with_values"](self, grad)})
def values_op(self):
    """The values of a coalesced tensor, (entries, *dense dims)."""
    require_coalesced(self, "values")
    return same_memory(entries_of(self).values)


def values(self):
    """The values of a coalesced tensor, (entries, *dense dims); gradients flow through. RuntimeError for others."""
    require_sparse(self, "values", "sparse tensor layout")
    return values_op(self)


values_op.info.public = publish("values", values, ("Tensor",))


@sparse_operator("_sparse_with_values", vjp={"values": lambda grad, self: registry["_values_at"](grad, self)}, jvp=None)
def with_values_op(self, values):
    """A sparse tensor with the places of `self` and these values."""
    entries = entries_of(self)
    return sparse(entries.indices, same_memory(values), self._shape, entries.is_coalesced)


def coalesced(t):
    """`t` itself if it is coalesced, else its entries sorted and added up, outside of the graph."""
    if entries_of(t).is_coalesced:
        return t
    indices, values = parts(t)
    require_inside(t)
    return sparse(*kernels.coalesced(indices, values, t._shape[:indices.shape[0]]), t._shape, True)


def require_inside(t):
    """RuntimeError for an index that is no index of its dimension. PyTorch does not look, unless it is asked to."""
    check_inside(parts(t)[0], t._shape)


def check_inside(indices, shape):
    outside = kernels.first_outside(indices, shape)
    if outside is None:
        return
    dim, index = outside
    if index < 0:
        raise RuntimeError(f"found negative index {index} for dim {dim}")
    raise RuntimeError(f"size is inconsistent with indices: for dim {dim}, size is {shape[dim]} but found index "
                       f"{index}")


@sparse_operator("_coalesce", vjp={"self": lambda grad: grad})
def coalesce_op(self):
    """The entries sorted by place, those at one place added."""
    return coalesced(self)


def coalesce(self):
    """The same tensor with every place once, in order; itself if it is so already. RuntimeError for strided tensors."""
    require_sparse(self, "coalesce")
    return self if entries_of(self).is_coalesced else coalesce_op(self)


coalesce_op.info.public = publish("coalesce", coalesce, ("Tensor",))


# ---- another size ------------------------------------------------------------------------------------------

def sparse_resize_(self, size, sparse_dim, dense_dim):
    """Give the tensor another size without touching its entries; sizes may not shrink while there are some."""
    require_entries(self, "sparse_resize_")
    if entry_count(self) and (sparse_dim != sparse_dims(self) or dense_dim != len(self._shape) - sparse_dims(self)):
        kind = "sparse" if sparse_dim != sparse_dims(self) else "dense"
        have = sparse_dims(self) if kind == "sparse" else len(self._shape) - sparse_dims(self)
        want = sparse_dim if kind == "sparse" else dense_dim
        raise RuntimeError(f"changing the number of {kind} dimensions (from {have} to {want}) on a non-empty sparse "
                           "tensor is not supported.\nYou could try the following options:\n1. If you need an empty "
                           "sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.\n2. If you need to "
                           "resize this tensor, you have the following options:\n    1. For both sparse and dense "
                           "dimensions, keep the number of them constant and the size of them non-shrinking, and then "
                           "try the same call again.\n    2. Or, create a new sparse tensor with the correct indices "
                           "and values from this sparse tensor.")
    entries = entries_of(self)
    return become(self, sparse(entries.indices, entries.values, tuple(size), entries.is_coalesced))


def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    """Give the tensor another size, and drop its entries."""
    require_entries(self, "sparse_resize_and_clear_")
    size = tuple(size)
    if sparse_dim + dense_dim != len(size):
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
                           f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}")
    return become(self, empty_sparse(size, self._dtype, sparse_dim))


def empty_sparse(size, dtype, dims=None):
    """A sparse tensor without entries; `dims`: how many dimensions are sparse, all unless told."""
    dims = len(size) if dims is None else dims
    return sparse(np.zeros((dims, 0), np.int64), np.zeros((0, *size[dims:]), dtype.numpy), tuple(size), True)


def resize_as_sparse_(self, the_template):
    """Give the tensor the size of another sparse one."""
    require_entries(the_template, "resize_as_sparse_")
    return sparse_resize_(self, the_template._shape, sparse_dims(the_template), the_template.dense_dim())


method(resize_as_sparse_)
method(sparse_resize_)
method(sparse_resize_and_clear_)
