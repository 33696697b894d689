"""Masks and positions: masked_fill, masked_select, masked_scatter, nonzero, argwhere, where(condition)."""

import functools

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import cpp_name, scalar_type_name
from ..dispatch.operator import registry
from .declare import LINEAR, composite, exports, operator, publish, taking_out
from .fake import Fake
from .picking import cast, require_zero_dim
from .writing import with_separate_out, writing

# ---- masks ---


def fake_masked_fill(self, mask, value):
    if mask._dtype is not dt.bool:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {cpp_name(mask._dtype)}"
        )
    require_zero_dim(value, "masked_fill_")
    return Fake(geometry.broadcast_shapes(self._shape, mask._shape), self._dtype)


@writing(
    "masked_fill",
    fake=fake_masked_fill,
    out=False,
    may_overlap=True,
    apart=False,
    jvp=LINEAR,
    vjp={
        "self": lambda grad, mask: grad.masked_fill(mask, 0),
        "value": lambda grad, mask: grad.masked_fill(mask.logical_not(), 0).sum(),
    },
)
def masked_fill(self, mask, value):
    """`value` (a number or 0-dim tensor) where `mask` is True, `self` elsewhere; both broadcast."""
    np.copyto(self, cast(value, self.dtype), where=mask)


@operator(
    "masked_select",
    jvp=LINEAR,
    vjp={"self": lambda grad, self_shape, mask: masked_select_backward(grad, self_shape, mask)},
)
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
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{scalar_type_name(self._dtype)} and {scalar_type_name(source._dtype)}"
        )
    if mask._dtype is not dt.bool:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{scalar_type_name(mask._dtype)}"
        )
    return Fake(geometry.broadcast_shapes(self._shape, mask._shape), self._dtype)


@writing(
    "masked_scatter",
    fake=fake_masked_scatter,
    out=False,
    apart=False,
    jvp=LINEAR,
    vjp={
        "self": lambda grad, mask: grad.masked_fill(mask, 0),
        "source": lambda grad, mask, source_shape: grad.masked_scatter_backward(mask, source_shape),
    },
)
def masked_scatter(self, mask, source):
    """The elements of `source`, in turn, where `mask` is True; `self` elsewhere."""
    mask = np.broadcast_to(mask, self.shape)
    count = np.count_nonzero(mask)
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    self[mask] = source.reshape(-1)[:count]


@operator(
    "masked_scatter_backward",
    fake=lambda grad, mask, shape: Fake(shape, grad._dtype),
    spaces=("Tensor",),
    out=False,
    jvp=LINEAR,
    vjp={"grad": lambda grad, grad_shape, mask: grad.new_zeros(grad_shape).masked_scatter(mask, grad)},
)
def masked_scatter_backward(grad, mask, shape):
    """The gradients where `mask` is True, in turn, followed by zeros."""
    result = np.zeros(shape, grad.dtype)
    picked = grad[np.broadcast_to(mask, grad.shape)]
    result.reshape(-1)[: picked.size] = picked
    return result


# ---- positions ---


@operator("nonzero", spaces=())
def positions_of(self):
    """The positions of the elements that are not zero, one row each."""
    found = np.atleast_1d(self).nonzero()
    table = np.empty((self.ndim, found[0].size), np.int64)
    for d in range(self.ndim):
        table[d] = found[d]
    return table.T


def nonzero(input, *, out=None, as_tuple=False):
    """The positions of the elements that are not zero: a row each, or a tuple of a vector per dimension."""
    if as_tuple:
        return nonzero_tuple(input)
    return registry["nonzero"](input) if out is None else positions_of(input, out=out)


def nonzero_tuple(t):
    if not t._shape:
        t = t.reshape(1)
    return registry["nonzero"](t).unbind(1)


publish("nonzero", nonzero, ("", "Tensor"))


def nonzero_static(input, *, size, fill_value=-1):
    """The first `size` rows of `nonzero`, a fixed number: where there are fewer, rows of `fill_value` follow."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = registry["nonzero"](input)[:size]
    rows = exports[""]["full"]((size, input.dim()), fill_value, dtype=found.dtype, device=found.device)
    rows[:found.size(0)] = found
    return rows


publish("nonzero_static", taking_out(nonzero_static), ("", "Tensor"))


def where_of(choose):
    """`where` with one argument also: the positions of the Trues."""

    @functools.wraps(choose)
    def where(condition, *args, **kwargs):
        return choose(condition, *args, **kwargs) if args or kwargs else nonzero_tuple(condition)

    return where


publish("where", where_of(exports[""]["where"]), ("",))


@composite("argwhere")
def argwhere(self):
    """The positions of the elements that are not zero, one row each."""
    return registry["nonzero"](self)
