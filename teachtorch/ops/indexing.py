"""Indexing: `x[index]`, `x[index] = y`, and the operators under them.

Ints, slices, None and `...` make views, one recorded operator each (core/indexing.py parses them). Index
tensors, lists and masks copy: `index` reads and `index_put_` writes.
"""

from operator import index as as_index

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
from .declare import LINEAR, exports, operator, publish
from .elementwise import refuse_any_overlap
from .fake import Fake, preserved_like
from .sequences import SIXTEEN_BITS, assigned_number, overflow
from .writing import writing

ORDINARY = K.CPU | K.BACKEND_SELECT | K.AD_INPLACE_OR_VIEW | K.AUTOGRAD
ALIAS = registry["alias"]


# ---- x[index] ---


def getitem(self, index):
    """`self[index]`: a view for ints, slices, None and `...`; a copy for index tensors, lists and masks."""
    plan = plan_index(index, self._shape, stride_of(self), self._offset, index_tensor)
    found = view_of(self, plan)
    if plan.indices:
        return index_(found, tensors_of(plan.indices))
    return ALIAS(self) if found is self else found


def view_of(t, plan):
    """The view after the basic steps of a plan; `t` itself if there are none."""
    if not plan.steps:
        return t
    if is_plain(t):
        return plain_view(t, plan)
    for name, *args in plan.steps:
        t = registry[name](t, *args)
    return t


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


def index_tensor(values):
    """The index tensor of a list or array: masks stay masks, all else becomes int64. Refused is what torch.tensor
    refuses, and a tensor in a list that is no single integer."""
    try:
        array = np.asarray(values if isinstance(values, np.ndarray) else with_plain_items(values))
    except ValueError:
        array = None
    if array is None or array.dtype.kind not in "biuf":
        exports[""]["tensor"](values)
    if array.dtype != np.bool_ and array.dtype != np.uint8:
        array = array.astype(np.int64)
    return from_array(array)


PLAIN_ITEMS = frozenset((int, bool, float))


def with_plain_items(values):
    """A sequence with numbers in place of its tensors. TypeError for one that is no single integer or bool."""
    if PLAIN_ITEMS.issuperset(map(type, values)):
        return values
    return [with_plain_items(v) if isinstance(v, list | tuple) else v if not isinstance(v, Tensor) else
            bool(v) if v._dtype is dt.bool and v.numel() == 1 else as_index(v) for v in values]


def tensors_of(indices):
    """A plan's indices with tensors in place of Python bools."""
    return [bool_index(i) if i.__class__ is bool else i for i in indices]


def bool_index(value):
    return from_array(np.zeros(1 if value else 0, np.int64))


publish("__getitem__", getitem, ("Tensor",))


# ---- x[index] = value ---


def setitem(self, index, value):
    """`self[index] = value`: in place, through the views and indices of reading. `value` is broadcast."""
    value = as_tensor_like(self, value)
    if index is False:
        return
    plan = plan_index(index, self._shape, stride_of(self), self._offset, index_tensor)
    target = view_of(self, plan) if changes_geometry(self, plan) else self
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
    if isinstance(value, complex) and t._dtype is not dt.bool:
        raise overflow(dt.float64 if t._dtype in SIXTEEN_BITS else t._dtype)
    if value.__class__ is int:
        geometry.check_64_bits(value)
    return from_array(np.asarray(assigned_number(t._dtype, bool(value) if t._dtype is dt.bool else value)))


def copy_to(target, value):
    """Overwrite a tensor with one that broadcasts to it."""
    if target._shape and not value._shape and value.is_cpu:
        target.fill_(value)
        return
    if value._shape != target._shape:
        value = without_leading_ones(value)
    if value._shape != target._shape:
        value = value.expand(target._shape)
    target.copy_(value)


def without_leading_ones(t):
    """A view without the leading dimensions of size 1: they broadcast against nothing."""
    count = 0
    while count < len(t._shape) and t._shape[count] == 1:
        count += 1
    return t.view(t._shape[count:])


publish("__setitem__", setitem, ("Tensor",))


def delitem(self, index):
    raise TypeError("Tensor does not support deleting items")


publish("__delitem__", delitem, ("Tensor",))


# ---- index and index_put ---


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


@operator(
    "index",
    fake=fake_index,
    spaces=(),
    out=False,
    jvp=LINEAR,
    vjp={"self": lambda grad, self_shape, indices: grad.index_backward(self_shape, indices)},
)
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
    indices = np.broadcast_arrays(*[picks[d] for d in dims])
    kept = [s for d, s in enumerate(source.strides) if d not in dims]
    place = rows.first_dim(dims)
    source_order = kept[:place] + [0] * indices[0].ndim + kept[place:]
    index_orders = [[0] * place + list(index.strides) + [0] * (len(kept) - place) for index in indices]
    return geometry.strides_following(shape, source_order, *index_orders)


@operator(
    "index_backward",
    fake=lambda grad, shape, indices: Fake(shape, grad._dtype),
    spaces=("Tensor",),
    out=False,
    jvp=LINEAR,
    vjp={"grad": lambda grad, indices: index_(grad, indices)},
)
def index_backward(grad, shape, indices):
    """Zeros of `shape` with `grad` added where `indices` picked."""
    result = np.zeros(shape, grad.dtype)
    rows.add_picked(result, picks_of(indices), grad)
    return result


def fake_index_put(self, indices, values, accumulate=False):
    check_put(self, indices, values, accumulate)
    return preserved_like(self)


def check_put(self, indices, values, accumulate=False):
    """IndexError for bad indices, RuntimeError where `values` do not fit what they pick."""
    if isinstance(indices, Tensor):
        raise TypeError("index_put(): argument 'indices' (position 1) must be tuple of Tensors, not Tensor")
    fills = not accumulate and fills_a_mask(indices, values)
    shape = picked_shape(self, indices)
    if not is_expandable(values._shape, shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values._shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        )
    if values._dtype is not self._dtype and not fills:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{scalar_type_name(self._dtype)} for the destination and "
            f"{scalar_type_name(values._dtype)} for the source."
        )


def fills_a_mask(indices, values):
    """Whether one value is put where one mask says, as masked_fill does: the value then may have any dtype."""
    masks = [i for i in indices if i is not None]
    if values.numel() != 1 or len(masks) != 1 or masks[0]._dtype not in (dt.bool, dt.uint8):
        return False
    if masks[0]._dtype is dt.uint8:
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
    return True


def is_expandable(shape, target):
    return len(shape) <= len(target) and all(
        n == m or n == 1 for n, m in zip(reversed(shape), reversed(target))
    )


@writing(
    "index_put",
    fake=fake_index_put,
    jvp=LINEAR,
    out=False,
    may_overlap=True,
    apart=False,
    vjp={
        "self": lambda grad, indices, values_shape, accumulate: (
            grad if accumulate else grad.index_put(indices, grad.new_zeros(values_shape))
        ),
        "values": lambda grad, indices: index_(grad, indices),
    },
)
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


def refusing_shared(write):
    """The in-place kernel, refusing values and indices in the memory that is written to."""

    def cpu(keys, self, indices, values, accumulate=False):
        is_one_number = values.numel() == 1 and not accumulate and any(i is not None and is_mask(i) for i in indices)
        if not is_one_number:
            refuse_any_overlap(self, (values, *indices))
        return write(keys, self, indices, values, accumulate)

    return cpu


registry["index_put_"].register(K.CPU, refusing_shared(registry["index_put_"].own_kernel(K.CPU)))
publish("index_put_", exports["Tensor"]["index_put_"], ("",))


# ---- the gradients of views that pick ---


@operator(
    "select_backward",
    fake=lambda grad, shape, dim, index: Fake(shape, grad._dtype),
    spaces=("Tensor",),
    out=False,
    jvp=LINEAR,
    vjp={"grad": lambda grad, dim, index: grad.select(dim, index)},
)
def select_backward(grad, shape, dim, index):
    """Zeros of `shape` with `grad` at `index` of `dim`."""
    result = np.zeros(shape, grad.dtype)
    result[rows.whole(len(shape), dim, index)] = grad
    return result


@operator(
    "slice_backward",
    fake=lambda grad, shape, dim, start, end, step: Fake(shape, grad._dtype),
    spaces=("Tensor",),
    out=False,
    jvp=LINEAR,
    vjp={"grad": lambda grad, dim, start, end, step: registry["slice"](grad, dim, start, end, step)},
)
def slice_backward(grad, shape, dim, start, end, step):
    """Zeros of `shape` with `grad` in the slice of `dim`."""
    result = np.zeros(shape, grad.dtype)
    result[rows.whole(len(shape), dim, slice(start, end, step))] = grad
    return result
