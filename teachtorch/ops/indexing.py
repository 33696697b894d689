"""Indexing: `x[index]`, `x[index] = y`, and the operators that gather and scatter.

Ints, slices, None and `...` make views, one recorded operator each (core/indexing.py parses them). Index tensors,
lists and masks copy: `index` reads and `index_put_` writes.
"""
import functools

import numpy as np

from ..autograd.meta import tracks
from ..autograd.views import mark_view
from ..core import dtype as dt
from ..core import geometry, observer
from ..core.dtype import scalar_type_name
from ..core.indexing import check_mask, gather_layout, is_mask, plan_index
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..dispatch.state import state
from ..kernels import rows
from ..tensor import Tensor, alias, array_of, from_array, stride_of
from .creation import empty_strided_array
from .declare import LINEAR, composite, exports, operator, publish, view
from .fake import Fake
from .view import geometry_of
from .writing import preserved_like, with_separate_out, writing

ORDINARY = K.CPU | K.BACKEND_SELECT | K.AD_INPLACE_OR_VIEW | K.AUTOGRAD


if "slice" not in registry:
    @view("slice", spaces=(), vjp={"self": lambda grad, self_shape, dim, start, end, step:
          grad.slice_backward(self_shape, dim, start, end, step)})
    def slice_(self, dim=0, start=None, end=None, step=1):
        """Every `step`-th index of a dimension, from `start` up to `end`."""
        return geometry.slice_(*geometry_of(self), dim, start, end, step)


if "unsqueeze" not in registry:
    @view("unsqueeze", vjp={"self": lambda grad, self_shape: grad.reshape(self_shape)})
    def unsqueeze(self, dim):
        """The tensor with a new dimension of size 1 before `dim`."""
        return geometry.unsqueeze(*geometry_of(self), dim)


if "alias" not in registry:
    @view("alias", spaces=(), vjp={"self": lambda grad: grad})
    def alias_(self):
        """The tensor itself, as a view."""
        return geometry_of(self)


# ---- x[index] -------------------------------------------------------------------------------------------------

def getitem(self, index):
    """`self[index]`: a view for ints, slices, None and `...`; a copy for index tensors, lists and masks."""
    if is_plain(self):
        plan = plan_index(index, self._shape, stride_of(self), self._offset, index_tensor)
        if not plan.indices:
            return plain_view(self, plan)
        return index_(basic_view(self, plan), tensors_of(plan.indices))
    plan = plan_index(index, self._shape, stride_of(self), self._offset, index_tensor)
    found = basic_view(self, plan)
    if plan.indices:
        return index_(found, tensors_of(plan.indices))
    return alias_op(self) if found is self else found


def is_plain(t):
    """Whether nobody but the kernel would notice a call: no gradient, no tangent, no mode, no observer."""
    keys = (t._keys | state.included) & ~state.excluded
    return keys | ORDINARY == ORDINARY and not observer.active and not state.forward_ad and not tracks(t)


def plain_view(t, plan):
    """The view that the steps of a plan lead to, made at once."""
    made = alias(t, plan.shape, plan.stride, plan.offset)
    if (t._keys | state.included) & ~state.excluded & K.AD_INPLACE_OR_VIEW:
        mark_view(made, t)
    return made


def basic_view(t, plan):
    """The view after the basic steps of a plan, each a recorded operator; `t` itself if there are none."""
    for name, *args in plan.steps:
        t = registry[name](t, *args)
    return t


def alias_op(t):
    return registry["alias"](t)


def index_tensor(values):
    """The index tensor of a list or array: masks stay masks, all else becomes int64."""
    array = np.asarray(values)
    if array.dtype != np.bool_ and array.dtype != np.uint8:
        array = array.astype(np.int64)
    return from_array(array)


def tensors_of(indices):
    """A plan's indices with tensors in place of Python bools."""
    return [bool_index(i) if i.__class__ is bool else i for i in indices]


def bool_index(value):
    return from_array(np.zeros(1 if value else 0, np.int64))


publish("__getitem__", getitem, ("Tensor",))


# ---- x[index] = value -----------------------------------------------------------------------------------------

def setitem(self, index, value):
    """`self[index] = value`: in place, through the same views and indices as reading. `value` is broadcast."""
    value = as_tensor_like(self, value)
    if index is False:
        return
    plan = plan_index(index, self._shape, stride_of(self), self._offset, index_tensor)
    target = basic_view(self, plan) if changes_geometry(self, plan) else self
    if plan.indices:
        target.index_put_(tensors_of(plan.indices), without_leading_ones(value))
    else:
        copy_to(target, value)


def changes_geometry(t, plan):
    return plan.shape != t._shape or plan.offset != t._offset or plan.stride != stride_of(t)


def as_tensor_like(t, value):
    """The assigned value as a tensor; TypeError for anything but tensors and numbers."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (bool, int, float, complex)):
        kind = type(value)
        name = f"numpy.{kind.__name__}" if isinstance(value, (np.generic, np.ndarray)) else kind.__name__
        raise TypeError(f"can't assign a {name} to a torch.{scalar_type_name(t._dtype)}Tensor")
    if isinstance(value, complex):
        raise RuntimeError(f"value cannot be converted to type {t._dtype.name} without overflow")
    return from_array(np.asarray(value).astype(t._dtype.numpy))


def copy_to(target, value):
    """Overwrite a tensor with one that broadcasts to it."""
    if target._shape and not value._shape and value.is_cpu:
        target.fill_(value)
        return
    if value._shape != target._shape:
        value = without_leading_ones(value).expand(target._shape)
    target.copy_(value)


def without_leading_ones(t):
    """Without the leading dimensions of size 1: they broadcast against nothing."""
    count = 0
    while count < len(t._shape) and t._shape[count] == 1:
        count += 1
    return t.view(t._shape[count:]) if count else t


publish("__setitem__", setitem, ("Tensor",))


# ---- index and index_put --------------------------------------------------------------------------------------

def picks_of(indices):
    """NumPy's index for a list of None, integer arrays and masks; a mask stands for its positions."""
    picks = []
    for i in indices:
        if i is None:
            picks.append(slice(None))
        elif i.dtype == np.bool_ or i.dtype == np.uint8:
            picks.extend(i.nonzero())
        else:
            picks.append(i)
    return tuple(picks)


def index_shapes(indices):
    """Per dimension the shape of its index, None where the dimension is kept."""
    shapes = []
    for i in indices:
        if i is not None and is_mask(i):
            shapes.extend([(count_true(i),)] * i.dim())
        else:
            shapes.append(None if i is None else i._shape)
    return shapes


def count_true(mask):
    return int(np.count_nonzero(array_of(mask)))


def picked_shape(self, indices):
    """The shape of `self[indices]`. IndexError for what is no index of `self`."""
    check_index_list(self, indices)
    shapes = index_shapes(indices)
    return gather_layout(self._shape, shapes + [None] * (len(self._shape) - len(shapes)))[0]


def check_index_list(self, indices):
    dim = 0
    for i in indices:
        if i is not None:
            check_index_dtype(i)
        dim += i.dim() if i is not None and is_mask(i) else 1
    if dim > len(self._shape):
        raise IndexError(f"too many indices for tensor of dimension {len(self._shape)} (got {dim})")
    dim = 0
    for i in indices:
        if i is not None and is_mask(i):
            check_mask(i._shape, self._shape, dim)
        dim += i.dim() if i is not None and is_mask(i) else 1


def check_index_dtype(i):
    if i._dtype not in (dt.int64, dt.int32, dt.bool, dt.uint8):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")


def fake_index(self, indices):
    return Fake(picked_shape(self, indices), self._dtype)


@operator("index", fake=fake_index, spaces=(), out=False, jvp=LINEAR, vjp={
    "self": lambda grad, self_shape, indices: grad.index_backward(self_shape, indices)})
def index_(self, indices):
    """The elements that index tensors and masks pick; None keeps a dimension."""
    picks = picks_of(indices)
    try:
        found = self.take(picks[0], 0) if len(picks) == 1 and picks[0].__class__ is not slice else self[picks]
    except IndexError as error:
        raise rows.out_of_bounds(self.shape, picks) or error
    return laid_out(found, self, picks)


def laid_out(found, source, picks):
    """What was picked, as an array of its own in the memory order of the source (TensorIterator's)."""
    if source.flags.c_contiguous and all(p.__class__ is slice or p.flags.c_contiguous for p in picks):
        return np.array(found, order="C", copy=None)
    result = empty_strided_array(found.shape, picked_strides(found.shape, source, picks), found.dtype)
    result[...] = found
    return result


def picked_strides(shape, source, picks):
    """Dense strides whose order is the source's along kept dimensions and the index's along picked ones."""
    dims = [d for d, pick in enumerate(picks) if pick.__class__ is not slice]
    index = np.broadcast_arrays(*[picks[d] for d in dims])[0]
    kept = [s for d, s in enumerate(source.strides) if d not in dims]
    place = rows.first_dim(dims)
    source_order = kept[:place] + [0] * index.ndim + kept[place:]
    index_order = [0] * place + list(picks[dims[0]].strides) + [0] * (len(kept) - place)
    return strides_following(shape, source_order, index_order)


def strides_following(shape, *orders):
    """Dense strides for a result, its dimensions in the order of several operands' strides (0: no say)."""
    dims = list(range(len(shape) - 1, -1, -1))                  # densest first
    for start in range(1, len(dims)):
        place = start
        for other in range(start - 1, -1, -1):
            comparison = compare_dims(dims[other], dims[place], shape, orders)
            if comparison < 0:
                break
            if comparison > 0:
                dims[other], dims[place] = dims[place], dims[other]
                place = other
    strides, step = [0] * len(shape), 1
    for dim in dims:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def compare_dims(a, b, shape, orders):
    """Positive if dim `b` is denser than `a`: the first operand that steps along both decides."""
    for order in orders:
        if order[a] and order[b]:
            return order[a] - order[b] if order[a] != order[b] else int(shape[a] > shape[b])
    return 0


@operator("index_backward", fake=lambda grad, shape, indices: Fake(shape, grad._dtype), spaces=("Tensor",), out=False,
          jvp=LINEAR, vjp={"grad": lambda grad, indices: index_(grad, indices)})
def index_backward(grad, shape, indices):
    """Zeros of `shape` with `grad` added where `indices` picked."""
    result = np.zeros(shape, grad.dtype)
    rows.add_picked(result, picks_of(indices), grad)
    return result


def fake_index_put(self, indices, values, accumulate=False):
    check_put(self, indices, values)
    return preserved_like(self)


def check_put(self, indices, values):
    """IndexError for bad indices, RuntimeError where `values` do not fit what they pick."""
    if isinstance(indices, Tensor):
        raise TypeError("index_put(): argument 'indices' (position 1) must be tuple of Tensors, not Tensor")
    shape = picked_shape(self, indices)
    if not is_expandable(values._shape, shape):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values._shape)} cannot be broadcast to "
                           f"indexing result of shape {list(shape)}")
    if values._dtype is not self._dtype:
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{scalar_type_name(self._dtype)} for the destination and "
                           f"{scalar_type_name(values._dtype)} for the source.")


def is_expandable(shape, target):
    return len(shape) <= len(target) and all(n == m or n == 1 for n, m in zip(reversed(shape), reversed(target)))


@writing("index_put", fake=fake_index_put, jvp=LINEAR, out=False, may_overlap=True, vjp={
    "self": lambda grad, indices, values_shape, accumulate:
        grad if accumulate else grad.index_put(indices, grad.new_zeros(values_shape)),
    "values": lambda grad, indices: index_(grad, indices)})
def index_put(self, indices, values, accumulate=False):
    """Write `values` to where `indices` pick, or add them with `accumulate`, repeats each."""
    picks = picks_of(indices)
    error = rows.out_of_bounds(self.shape, picks)
    if error is not None:
        raise error
    if accumulate:
        rows.add_picked(self, picks, values)
    else:
        self[picks] = values


# ---- index_select, index_add, index_copy, index_fill --------------------------------------------------------

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
    return Fake(self._shape[:dim] + (count,) + self._shape[dim + 1:], self._dtype)


@operator("index_select", fake=fake_index_select, jvp=LINEAR, vjp={
    "self": lambda grad, self_shape, dim, index: grad.new_zeros(self_shape).index_add_(dim, index, grad)})
def index_select(self, dim, index):
    """The slices of `dim` that `index` (a vector of int64 or int32) lists, as a copy."""
    require_index_array(index, 1)
    size = self.shape[dim] if self.ndim else 1
    if rows.first_outside(index, size) is not None:
        raise IndexError("index out of range in self")
    if not self.ndim:
        return np.array(self) if index.size == 1 else refuse("index_select")
    return np.array(self.take(index.reshape(-1), dim), order="C", copy=None)


with_separate_out(registry["index_select"])


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
        raise RuntimeError(f"index_add_(): self ({scalar_type_name(self._dtype)}) and source "
                           f"({scalar_type_name(source._dtype)}) must have the same scalar type")
    if len(index._shape) > 1:
        raise IndexError(f"index_add_(): Index is supposed to be a vector, but got dim: {len(index._shape)} with type: "
                         f"{scalar_type_name(index._dtype)} and size: {list(index._shape)}")
    if index._dtype not in (dt.int64, dt.int32):
        raise RuntimeError("index_add_(): Expected dtype int32/int64 for index but got: "
                           f"{scalar_type_name(index._dtype)}")
    others = self._shape[:dim] + self._shape[dim + 1:]
    if shape and (len(shape) != len(self._shape) or shape[:dim] + shape[dim + 1:] != others):
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. "
                           f"Got self.shape = {list(self._shape)} source.shape = {list(shape)}")
    if count != (shape[dim] if shape else 1):
        raise RuntimeError(f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): "
                           f"({shape[dim] if shape else 1}), for dim: {dim}")
    return Fake(self._shape, self._dtype)


@writing("index_add", fake=fake_index_add, jvp=LINEAR, vjp={
    "self": lambda grad: grad,
    "source": lambda grad, dim, index, source, alpha:
        scaled(picked_along(grad, dim, index, source._shape), alpha)})
def index_add(self, dim, index, source, *, alpha=1):
    """Add `alpha` times the slices of `source` to the slices of `dim` that `index` lists; repeats add each."""
    size = self.shape[dim] if self.ndim else 1
    bad = rows.first_outside(index, size)
    if bad is not None:
        raise RuntimeError(f"index {bad} is out of bounds for dimension 0 with size {size}")
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
        raise IndexError("index_copy_(): When source and destination are not scalars, their dimensionality must match. "
                         f"Source dimensionality ({len(shape)}), destination dimensionality ({len(self._shape)})")
    if index._dtype is not dt.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {scalar_type_name(index._dtype)}")
    if self._dtype is not source._dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{scalar_type_name(self._dtype)} and (source) {scalar_type_name(source._dtype)}")
    check_copied_slices(self._shape, shape, dim, count)
    return Fake(self._shape, self._dtype)


def check_copied_slices(shape, source_shape, dim, count):
    wanted = shape[:dim] + shape[dim + 1:]
    got = source_shape[:dim] + source_shape[dim + 1:]
    if wanted != got and (shape or source_shape) and source_shape:
        raise RuntimeError("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice "
                           f"shape: {' '.join(map(str, wanted))} at dimension {dim} and source slice shape: "
                           f"{' '.join(map(str, got))} at dimension 0.")
    if source_shape and count != source_shape[dim]:
        raise IndexError(f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) "
                         f"({source_shape[dim]})")


@writing("index_copy", fake=fake_index_copy, jvp=LINEAR, vjp={
    "self": lambda grad, dim, index: grad.index_fill(dim, index, 0),
    "source": lambda grad, dim, index, source: picked_along(grad, dim, index, source._shape)})
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
        raise RuntimeError(f"{name} only supports a 0-dimensional value tensor, but got tensor with "
                           f"{len(value._shape)} dimension(s).")


@writing("index_fill", fake=fake_index_fill, out=False, jvp=LINEAR, may_overlap=True, vjp={
    "self": lambda grad, dim, index: grad.index_fill(dim, index, 0),
    "value": lambda grad, dim, index: grad.index_select(dim, distinct(index, grad, dim)).sum()})
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
    return from_array(np.unique(array_of(index) % (t._shape[dim] if t._shape else 1)))


def cast(value, dtype):
    """A number or array in the dtype it is to be written as, converted as C++ does."""
    return np.asarray(value).astype(dtype)


# ---- take and put -------------------------------------------------------------------------------------------

def require_long(index, name):
    if index._dtype is not dt.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {scalar_type_name(index._dtype)}")


def fake_take(self, index):
    require_long(index, "take")
    if geometry.numel(index._shape) and not geometry.numel(self._shape):
        raise IndexError("take(): tried to take from an empty tensor")
    return Fake(index._shape, self._dtype)


@operator("take", fake=fake_take, jvp=LINEAR, vjp={
    "self": lambda grad, self_shape, index: grad.new_zeros(self_shape).put_(index, grad, True)})
def take(self, index):
    """The elements at flat positions, as if the tensor were one-dimensional; negative ones count from the end."""
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
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got self.dtype = "
                           f"{scalar_type_name(self._dtype)} and source.dtype = {scalar_type_name(source._dtype)}")
    counts = geometry.numel(source._shape), geometry.numel(index._shape)
    if counts[0] != counts[1]:
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got "
                         f"source.numel() = {counts[0]}, index.numel() = {counts[1]}")
    return preserved_like(self)


@writing("put", fake=fake_put, out=False, jvp=LINEAR, vjp={
    "self": lambda grad, index, source_shape, accumulate:
        grad if accumulate else grad.put(index, grad.new_zeros(source_shape)),
    "source": lambda grad, index, source_shape: grad.take(index).reshape(source_shape)})
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


# ---- masks --------------------------------------------------------------------------------------------------

_CPP_NAMES = {"float32": "float", "float64": "double", "uint8": "unsigned char", "int8": "signed char",
              "int16": "short", "int32": "int", "int64": "long", "float16": "c10::Half", "bfloat16": "c10::BFloat16"}


def fake_masked_fill(self, mask, value):
    if mask._dtype is not dt.bool:
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype "
                           f"{_CPP_NAMES[mask._dtype.name]}")
    require_zero_dim(value, "masked_fill_")
    return Fake(geometry.broadcast_shapes(self._shape, mask._shape), self._dtype)


@writing("masked_fill", fake=fake_masked_fill, out=False, may_overlap=True, jvp=LINEAR, vjp={
    "self": lambda grad, mask: grad.masked_fill(mask, 0),
    "value": lambda grad, mask: grad.masked_fill(mask.logical_not(), 0).sum()})
def masked_fill(self, mask, value):
    """`value` (a number or 0-dim tensor) where `mask` is True, `self` elsewhere; both broadcast."""
    np.copyto(self, cast(value, self.dtype), where=mask)


@operator("masked_select", jvp=LINEAR, vjp={
    "self": lambda grad, self_shape, mask: masked_select_backward(grad, self_shape, mask)})
def masked_select(self, mask):
    """The elements where `mask` is True, in a vector; both broadcast."""
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if mask.shape != self.shape:
        shape = geometry.broadcast_shapes(mask.shape, self.shape)
        self, mask = np.broadcast_to(self, shape), np.broadcast_to(mask, shape)
    return self[mask] if mask.ndim else self.reshape(1)[mask.reshape(1)]


with_separate_out(registry["masked_select"])


def masked_select_backward(grad, shape, mask):
    """Zeros with `grad` where `mask` picked, in the shape to which it and a tensor of `shape` broadcast."""
    return grad.new_zeros(geometry.broadcast_shapes(shape, mask._shape)).masked_scatter_(mask, grad)


def fake_masked_scatter(self, mask, source):
    if self._dtype is not source._dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got"
                           f"{scalar_type_name(self._dtype)} and {scalar_type_name(source._dtype)}")
    if mask._dtype is not dt.bool:
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{scalar_type_name(mask._dtype)}")
    return Fake(geometry.broadcast_shapes(self._shape, mask._shape), self._dtype)


@writing("masked_scatter", fake=fake_masked_scatter, out=False, jvp=LINEAR, vjp={
    "self": lambda grad, mask: grad.masked_fill(mask, 0),
    "source": lambda grad, mask, source_shape: grad.masked_scatter_backward(mask, source_shape)})
def masked_scatter(self, mask, source):
    """The elements of `source`, in turn, where `mask` is True; `self` elsewhere."""
    mask = np.broadcast_to(mask, self.shape)
    count = np.count_nonzero(mask)
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    self[mask] = source.reshape(-1)[:count]


@operator("masked_scatter_backward", fake=lambda grad, mask, shape: Fake(shape, grad._dtype), spaces=("Tensor",),
          out=False, jvp=LINEAR, vjp={
              "grad": lambda grad, grad_shape, mask: grad.new_zeros(grad_shape).masked_scatter(mask, grad)})
def masked_scatter_backward(grad, mask, shape):
    """The gradients where `mask` is True, in turn, followed by zeros."""
    result = np.zeros(shape, grad.dtype)
    picked = grad[np.broadcast_to(mask, grad.shape)]
    result.reshape(-1)[:picked.size] = picked
    return result


# ---- positions ----------------------------------------------------------------------------------------------

@operator("nonzero", spaces=())
def positions_of(self):
    """The positions of the elements that are not zero, one row each."""
    found = np.atleast_1d(self).nonzero()
    table = np.empty((self.ndim, found[0].size), np.int64)
    for d in range(self.ndim):
        table[d] = found[d]
    return table.T


def nonzero(input, *, out=None, as_tuple=False):
    """The positions of the elements that are not zero: one row each, or one vector per dimension as a tuple."""
    if as_tuple:
        return nonzero_tuple(input)
    return registry["nonzero"](input) if out is None else positions_of(input, out=out)


def nonzero_tuple(t):
    if not t._shape:
        t = t.reshape(1)
    return registry["nonzero"](t).unbind(1)


publish("nonzero", nonzero, ("", "Tensor"))


def where_of(choose):
    """`where` with one argument also: the positions of the Trues."""
    @functools.wraps(choose)
    def where(condition, *args, **kwargs):
        return choose(condition, *args, **kwargs) if args or kwargs else nonzero_tuple(condition)
    return where


if "where" in exports.get("", {}):
    publish("where", where_of(exports[""]["where"]), ("",))


@composite("argwhere")
def argwhere(self):
    """The positions of the elements that are not zero, one row each."""
    return registry["nonzero"](self)


# ---- the gradients of views that pick -------------------------------------------------------------------------

@operator("select_backward", fake=lambda grad, shape, dim, index: Fake(shape, grad._dtype), spaces=("Tensor",),
          out=False, jvp=LINEAR, vjp={"grad": lambda grad, dim, index: grad.select(dim, index)})
def select_backward(grad, shape, dim, index):
    """Zeros of `shape` with `grad` at `index` of `dim`."""
    result = np.zeros(shape, grad.dtype)
    result[rows.whole(len(shape), dim, index)] = grad
    return result


@operator("slice_backward", fake=lambda grad, shape, dim, start, end, step: Fake(shape, grad._dtype),
          spaces=("Tensor",), out=False, jvp=LINEAR, vjp={
              "grad": lambda grad, dim, start, end, step: registry["slice"](grad, dim, start, end, step)})
def slice_backward(grad, shape, dim, start, end, step):
    """Zeros of `shape` with `grad` in the slice of `dim`."""
    result = np.zeros(shape, grad.dtype)
    result[rows.whole(len(shape), dim, slice(start, end, step))] = grad
    return result
