"""Picking along a dimension or by flat position: index_select, index_add, index_copy, index_fill, take, put."""

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels import rows
from ..tensor import Tensor, array_of
from .creation import beside
from .declare import LINEAR, operator
from .fake import Fake, preserved_like
from .sequences import number_in
from .writing import with_separate_out, writing

# ---- index_select, index_add, index_copy, index_fill ---


def wrap(dim, t):
    return geometry.wrap_dim(dim, len(t._shape))


def fake_index_select(self, dim, index):
    dim = wrap(dim, self)
    if len(index._shape) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index._dtype not in (dt.int64, dt.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    count = geometry.numel(index._shape)
    if not self._shape:
        if count != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {count} value(s)")
        return Fake((), self._dtype)
    if self._shape[dim] == 0 and count:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    return Fake(self._shape[:dim] + (count,) + self._shape[dim + 1 :], self._dtype)


@operator(
    "index_select",
    fake=fake_index_select,
    jvp=LINEAR,
    vjp={"self": lambda grad, self_shape, dim, index: grad.new_zeros(self_shape).index_add_(dim, index, grad)},
)
def index_select(self, dim, index):
    """The slices of `dim` that `index` (a vector of int64 or int32) lists, as a copy."""
    require_index_array(index, 1)
    size = self.shape[dim] if self.ndim else geometry.wrap_dim(dim, 0) + 1
    outside = rows.first_outside(index, size)
    if outside is not None:
        refuse_outside(self, dim, outside, size)
    if not self.ndim:
        return np.array(self) if index.size == 1 else refuse("index_select")
    return np.array(self.take(index.reshape(-1), dim), order="C", copy=None)


with_separate_out(registry["index_select"])


def refuse_outside(array, dim, found, size):
    """PyTorch's error for an index outside: its kernels for dimension 1, and for nothing to pick from, have their own.
    """
    if array.ndim > 1 and (dim % array.ndim == 1 or not array.size):
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={found} axis_dim={size}")
    raise IndexError("index out of range in self")


def require_index_array(index, max_ndim):
    """A kernel's quick look at an index; the fake rule then says what is wrong with it."""
    if index.dtype not in (np.int64, np.int32) or index.ndim > max_ndim:
        raise IndexError("not an index")


def refuse(name):
    raise RuntimeError(f"{name}: the arguments do not fit")


def picked_along(grad, dim, index, source_shape):
    """The part of a gradient that came from a source with one slice per index."""
    return grad.index_select(dim, index).reshape(source_shape)


def fake_index_add(self, dim, index, source, alpha=1):
    dim = wrap(dim, self)
    shape, count = source._shape, geometry.numel(index._shape)
    if self._dtype is not source._dtype:
        raise RuntimeError(
            f"index_add_(): self ({scalar_type_name(self._dtype)}) and source "
            f"({scalar_type_name(source._dtype)}) must have the same scalar type"
        )
    if len(index._shape) > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {len(index._shape)} with type: "
            f"{scalar_type_name(index._dtype)} and size: {list(index._shape)}"
        )
    if index._dtype not in (dt.int64, dt.int32):
        raise RuntimeError(
            f"index_add_(): Expected dtype int32/int64 for index but got: {scalar_type_name(index._dtype)}"
        )
    others = self._shape[:dim] + self._shape[dim + 1 :]
    if shape and (len(shape) != len(self._shape) or shape[:dim] + shape[dim + 1 :] != others):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self._shape)} source.shape = {list(shape)}"
        )
    if count != (shape[dim] if shape else 1):
        raise RuntimeError(
            f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): "
            f"({shape[dim] if shape else 1}), for dim: {dim}"
        )
    return Fake(self._shape, self._dtype)


@writing(
    "index_add",
    fake=fake_index_add,
    jvp=LINEAR,
    vjp={
        "self": lambda grad: grad,
        "source": lambda grad, dim, index, source, alpha: scaled(picked_along(grad, dim, index, source._shape), alpha),
    },
)
def index_add(self, dim, index, source, *, alpha=1):
    """Add `alpha` times the slices of `source` to those of `dim` that `index` lists; repeats add each."""
    size = self.shape[dim] if self.ndim else 1
    bad = rows.first_outside(index, size)
    if bad is not None:
        raise RuntimeError(f"index {bad} is out of bounds for dimension 0 with size {size}")
    if not index.size:
        return
    if alpha != 1:
        source = source * self.dtype.type(alpha)
    source = source.reshape(source.shape or (1,))
    if not self.ndim:
        self[...] = self + source[0]
    elif dim % self.ndim == 0 and self.flags.c_contiguous:
        count = index.size
        rows.add_rows(self.reshape(size, -1), index.reshape(-1), np.ascontiguousarray(source).reshape(count, -1))
    else:
        rows.add_picked(self, rows.whole(self.ndim, dim, index.reshape(-1)), source)


with_separate_out(registry["index_add"])


def scaled(grad, alpha):
    return grad if alpha == 1 else grad * alpha


def fake_index_copy(self, dim, index, source):
    dim = wrap(dim, self)
    count, shape = geometry.numel(index._shape), source._shape
    if len(index._shape) > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {len(index._shape)})")
    if not shape and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if shape and self._shape and len(shape) != len(self._shape):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({len(shape)}), destination dimensionality ({len(self._shape)})"
        )
    if index._dtype is not dt.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {scalar_type_name(index._dtype)}")
    if self._dtype is not source._dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{scalar_type_name(self._dtype)} and (source) {scalar_type_name(source._dtype)}"
        )
    check_copied_slices(self._shape, shape, dim, count)
    return Fake(self._shape, self._dtype)


def check_copied_slices(shape, source_shape, dim, count):
    wanted = shape[:dim] + shape[dim + 1 :]
    got = source_shape[:dim] + source_shape[dim + 1 :]
    if wanted != got and (shape or source_shape) and source_shape:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice "
            f"shape: {' '.join(map(str, wanted))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, got))} at dimension 0."
        )
    if source_shape and count != source_shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({source_shape[dim]})"
        )


@writing(
    "index_copy",
    fake=fake_index_copy,
    jvp=LINEAR,
    vjp={
        "self": lambda grad, dim, index: grad.index_fill(dim, index, 0),
        "source": lambda grad, dim, index, source: picked_along(grad, dim, index, source._shape),
    },
)
def index_copy(self, dim, index, source):
    """Copy the slices of `source` to the slices of `dim` that `index` lists."""
    size = self.shape[dim] if self.ndim else 1
    bad = rows.first_outside(index, size)
    if bad is not None:
        raise IndexError(f"index_copy_(): index {bad} is out of bounds for dimension 0 with size {size}")
    if self.ndim:
        self[rows.whole(self.ndim, dim, index.reshape(-1))] = source
    elif index.size:
        self[...] = source.reshape(-1)[-1]


with_separate_out(registry["index_copy"])


def fake_index_fill(self, dim, index, value):
    wrap(dim, self)
    if index._dtype is not dt.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if len(index._shape) > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if isinstance(value, complex):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    require_zero_dim(value, "index_fill_")
    return preserved_like(self)


def require_zero_dim(value, name):
    if isinstance(value, Tensor) and value._shape:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {len(value._shape)} dimension(s)."
        )


@writing(
    "index_fill",
    fake=fake_index_fill,
    out=False,
    jvp=LINEAR,
    may_overlap=True,
    vjp={
        "self": lambda grad, dim, index: grad.index_fill(dim, index, 0),
        "value": lambda grad, dim, index: grad.index_select(dim, distinct(index, grad, dim)).sum(),
    },
)
def index_fill(self, dim, index, value):
    """Fill the slices of `dim` that `index` lists with one number; negative indices count from the end."""
    size = self.shape[dim] if self.ndim else 1
    error = rows.out_of_bounds((size,), (index,))
    if error is not None:
        raise error
    if self.ndim:
        self[rows.whole(self.ndim, dim, index.reshape(-1))] = cast(value, self.dtype)
    elif index.size:
        self[...] = cast(value, self.dtype)


def distinct(index, t, dim):
    """The slices of `dim` that an index names, each once and counted from the front."""
    return beside(index, np.unique(array_of(index) % (t._shape[dim] if t._shape else 1)))


def cast(value, dtype):
    """An array in the dtype it is to be written as, converted as C++ does; RuntimeError where a number is out of
    the dtype's range."""
    if isinstance(value, np.ndarray) and value.shape:
        return value.astype(dtype)
    return np.asarray(number_in(dt.from_numpy(dtype), value.item() if isinstance(value, np.ndarray) else value))


# ---- take and put ---


def require_long(index, name):
    if index._dtype is not dt.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {scalar_type_name(index._dtype)}")


def fake_take(self, index):
    require_long(index, "take")
    if geometry.numel(index._shape) and not geometry.numel(self._shape):
        raise IndexError("take(): tried to take from an empty tensor")
    return Fake(index._shape, self._dtype)


@operator(
    "take",
    fake=fake_take,
    jvp=LINEAR,
    vjp={"self": lambda grad, self_shape, index: grad.new_zeros(self_shape).put_(index, grad, True)},
)
def take(self, index):
    """The elements at flat positions, as of a vector; negative ones count from the end."""
    if index.dtype != np.int64:
        raise TypeError("take: not an index")
    check_positions(self.size, index)
    return np.array(self.reshape(-1)[index], order="C", copy=None)


with_separate_out(registry["take"])


def check_positions(size, index):
    if index.size and (index.max() >= size or index.min() < -size):
        bad = index[(index >= size) | (index < -size)].flat[0]
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {size} elements.")


def fake_put(self, index, source, accumulate=False):
    require_long(index, "put_")
    if self._dtype is not source._dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_type_name(self._dtype)} and source.dtype = {scalar_type_name(source._dtype)}"
        )
    counts = geometry.numel(source._shape), geometry.numel(index._shape)
    if counts[0] != counts[1]:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {counts[0]}, index.numel() = {counts[1]}"
        )
    return preserved_like(self)


@writing(
    "put",
    fake=fake_put,
    out=False,
    jvp=LINEAR,
    vjp={
        "self": lambda grad, index, source_shape, accumulate: (
            grad if accumulate else grad.put(index, grad.new_zeros(source_shape))
        ),
        "source": lambda grad, index, source_shape: grad.take(index).reshape(source_shape),
    },
)
def put(self, index, source, accumulate=False):
    """Write `source` to flat positions, or add it there with `accumulate`."""
    check_positions(self.size, index)
    positions = np.where(index < 0, index + self.size, index).reshape(-1)
    flat = np.ascontiguousarray(self).reshape(-1)
    if accumulate:
        rows.reduce_at(np.add, flat, positions, source)
    else:
        flat[positions] = source.reshape(-1)
    if not np.shares_memory(flat, self):
        self[...] = flat.reshape(self.shape)
