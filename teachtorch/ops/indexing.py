"""Indexing: `x[index]`, `x[index] = y`, and the operators that gather and scatter.

Ints, slices, None and `...` make views, one recorded operator each (core/indexing.py parses them). Index tensors,
lists and masks copy: `index` reads and `index_put_` writes.
"""
import numpy as np

from ..autograd.meta import tracks
from ..autograd.views import mark_view
from ..core import dtype as dt
from ..core import geometry, observer
from ..core.dtype import scalar_type_name
from ..core.indexing import gather_layout, is_mask, plan_index
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..dispatch.state import state
from ..kernels import rows
from ..tensor import Tensor, alias, array_of, from_array, stride_of
from .creation import empty_strided_array
from .declare import LINEAR, composite, inplace_operator, operator, publish, view
from .fake import Fake
from .view import geometry_of

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
    if state.included & ~state.excluded & K.AD_INPLACE_OR_VIEW:
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
    value = as_value(self, value)
    if index is False:
        return
    plan = plan_index(index, self._shape, stride_of(self), self._offset, index_tensor)
    target = basic_view(self, plan) if changes_geometry(self, plan) else self
    if plan.indices:
        index_put_(target, tensors_of(plan.indices), strip_leading_ones(value, value.dim()))
    else:
        copy_to(target, value)


def changes_geometry(t, plan):
    return plan.shape != t._shape or plan.offset != t._offset or plan.stride != stride_of(t)


def as_value(t, value):
    """The assigned value as a tensor; TypeError for anything but tensors and numbers."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (bool, int, float)):
        kind = type(value)
        name = f"numpy.{kind.__name__}" if isinstance(value, (np.generic, np.ndarray)) else kind.__name__
        raise TypeError(f"can't assign a {name} to a torch.{scalar_type_name(t._dtype)}Tensor")
    return from_array(np.asarray(value).astype(t._dtype.numpy))


def copy_to(target, value):
    if value._shape != target._shape:
        value = strip_leading_ones(value, value.dim()).expand(target._shape)
    target.copy_(value)


def strip_leading_ones(t, limit):
    """Without the leading dimensions of size 1: they broadcast against nothing."""
    count = 0
    while count < limit and t._shape[count] == 1:
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
            count = int(np.count_nonzero(array_of(i)))
            shapes.extend([(count,)] * i.dim())
        else:
            shapes.append(None if i is None else i._shape)
    return shapes


def check_indices(shape, indices):
    if len([i for i in indices if i is not None]) == 0:
        raise IndexError("at least one index must be given")


def fake_index(self, indices):
    shape, place, picked = indexed_layout(self, indices)
    return Fake(shape, self._dtype)


def indexed_layout(self, indices):
    shapes = index_shapes(indices)
    if len(shapes) > self.dim():
        raise IndexError(f"too many indices for tensor of dimension {self.dim()} (got {len(shapes)})")
    return gather_layout(self._shape, shapes + [None] * (self.dim() - len(shapes)))


def out_of_bounds(shape, picks):
    """The IndexError for the first index that leads out of its dimension, None if all are inside."""
    dims = [d for d, p in enumerate(picks) if not isinstance(p, slice)]
    for number, dim in enumerate(dims):
        size, pick = shape[dim], picks[dim]
        outside = pick[(pick < -size) | (pick >= size)]
        if outside.size:
            return IndexError(f"index {outside.flat[0]} is out of bounds for dimension {number} with size {size}")
    return None


@operator("index", fake=fake_index, spaces=(), out=False, jvp=LINEAR, vjp={
    "self": lambda grad, self_shape, indices: grad.index_backward(self_shape, indices)})
def index_(self, indices):
    """The elements that index tensors and masks pick; None keeps a dimension."""
    picks = picks_of(indices)
    try:
        return np.array(self[picks], order="C")
    except IndexError:
        raise out_of_bounds(self.shape, picks) or IndexError("index does not fit the tensor")


@operator("index_backward", fake=lambda grad, shape, indices: Fake(shape, grad._dtype), spaces=("Tensor",), out=False,
          jvp=LINEAR, vjp={"grad": lambda grad, indices: index_(grad, indices)})
def index_backward(grad, shape, indices):
    """Zeros of `shape` with `grad` added where `indices` picked."""
    result = np.zeros(shape, grad.dtype)
    rows.add_picked(result, picks_of(indices), grad)
    return result


@inplace_operator("index_put_", vjp={
    "self": lambda grad, indices, values_shape, accumulate: grad if accumulate else put_zeros(grad, indices),
    "values": lambda grad, indices: index_(grad, indices)})
def index_put_(self, indices, values, accumulate=False):
    """Write `values` to where `indices` pick, or add them with `accumulate`; repeats are added each."""
    picks = picks_of(indices)
    if accumulate:
        rows.add_picked(self, picks, values)
    else:
        self[picks] = values


def put_zeros(grad, indices):
    return grad.clone().index_put_(indices, grad.new_zeros(()))


# ---- the gradients of views that pick -------------------------------------------------------------------------

@operator("select_backward", fake=lambda grad, shape, dim, index: Fake(shape, grad._dtype), spaces=("Tensor",),
          out=False, jvp=LINEAR, vjp={"grad": lambda grad, dim, index: grad.select(dim, index)})
def select_backward(grad, shape, dim, index):
    """Zeros of `shape` with `grad` at `index` of `dim`."""
    result = np.zeros(shape, grad.dtype)
    result[(slice(None),) * (dim % len(shape)) + (index,)] = grad
    return result


@operator("slice_backward", fake=lambda grad, shape, dim, start, end, step: Fake(shape, grad._dtype),
          spaces=("Tensor",), out=False, jvp=LINEAR, vjp={
              "grad": lambda grad, dim, start, end, step: registry["slice"](grad, dim, start, end, step)})
def slice_backward(grad, shape, dim, start, end, step):
    """Zeros of `shape` with `grad` in the slice of `dim`."""
    result = np.zeros(shape, grad.dtype)
    result[(slice(None),) * (dim % len(shape)) + (slice(start, end, step),)] = grad
    return result
