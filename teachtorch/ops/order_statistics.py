"""Statistics of sorted elements: median, mode, kthvalue, quantile."""

import math
import numbers

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..dispatch.operator import registry
from ..kernels.pointwise import silently
from ..tensor import Tensor, array_of
from .declare import exports, operator, publish, write_out
from .fake import Fake
from .extrema import (VALUES_AND_INDICES, fake_values_and_indices, select_gradient, select_tangent, share_evenly,
                      share_evenly_tangent)
from .node_names import name_node
from .reduction_arguments import (check_out_dtypes, numpy_names, own_and_index_dtype, reduced_shape, require_dim,
                                  with_out_check)
from .reduction_arrays import dense, widened


# ---- median, mode, kthvalue

def check_has_order(array, name):
    """Order statistics of bools are not implemented in PyTorch."""
    if array.dtype == np.bool_:
        raise TypeError(f"{name}() needs numbers")


def refuse_bool(self, kernel):
    if self._dtype is dt.bool:
        raise NotImplementedError(f'"{kernel}" not implemented for \'Bool\'')


def fake_median(self):
    refuse_bool(self, "median_cpu")
    return Fake((), self._dtype)


def fake_median_dim(name):
    values_and_indices = fake_values_and_indices(name)

    def fake(self, dim=-1, keepdim=False):
        refuse_bool(self, "median_out")
        return values_and_indices(self, dim, keepdim)
    return fake


def nan_of_none(array):
    """The median of no elements: NaN, and for integers what NaN is cast to."""
    return np.asarray(silently(np.asarray(math.nan).astype, array.dtype))


def lower_median(array, ignores_nan):
    """The lower of the two middle elements of all; NaN if one is NaN, unless NaN is ignored."""
    check_has_order(array, "median")
    flat = widened(array).reshape(-1)
    missing = np.isnan(flat)
    if ignores_nan:
        flat = flat[~missing]
    if not flat.size or missing.any() and not ignores_nan:
        return nan_of_none(array)
    middle = (flat.size - 1) // 2
    return np.asarray(np.partition(flat, middle)[middle].astype(array.dtype))


@operator("median", jvp=share_evenly_tangent, fake=fake_median, out=False, spaces=(),
          vjp={"self": share_evenly})
def median_all(self):
    """The lower median of all elements."""
    return lower_median(self, False)


@operator("nanmedian", jvp=share_evenly_tangent, fake=fake_median, out=False, spaces=(),
          vjp={"self": share_evenly})
def nanmedian_all(self):
    """The lower median of all elements that are not NaN."""
    return lower_median(self, True)


def chosen_along(array, ranks, dim, keepdim):
    """(values, indices) of the elements with the given ranks (0: smallest) along `dim`; NaN ranks last."""
    if not array.ndim:
        return np.array(array), np.zeros((), np.int64)
    order = np.argsort(widened(array), axis=dim, kind="stable")
    indices = np.take_along_axis(order, ranks, dim)
    values = np.take_along_axis(array, indices, dim)
    if keepdim:
        return values, indices
    return dense(values.squeeze(dim)), dense(indices.squeeze(dim))


def median_along(array, dim, keepdim, ignores_nan):
    """(values, indices) of the lower medians; a NaN is the median, unless NaN is ignored."""
    require_dim(dim, "median")
    check_has_order(array, "median")
    dim = geometry.wrap_dim(dim, array.ndim)
    if array.ndim and not array.shape[dim]:
        raise IndexError("median() needs elements")
    if not array.ndim:
        return np.array(array), np.zeros((), np.int64)
    missing = np.add.reduce(np.isnan(widened(array)), dim, np.int64, None, True)
    size = array.shape[dim]
    if ignores_nan:
        ranks = np.maximum(size - missing - 1, 0) // 2
    else:
        ranks = np.where(missing > 0, size - missing, (size - 1) // 2)
    return chosen_along(array, ranks, dim, keepdim)


@operator("median_dim", jvp=select_tangent, fake=fake_median_dim("median"), outputs=VALUES_AND_INDICES,
          spaces=(),
          vjp={"self": select_gradient})
def median_dim(self, dim=-1, keepdim=False):
    """The lower medians along one dimension, and where they are."""
    return median_along(self, dim, keepdim, False)


@operator("nanmedian_dim", jvp=select_tangent, fake=fake_median_dim("nanmedian"), outputs=VALUES_AND_INDICES,
          spaces=(), vjp={"self": select_gradient})
def nanmedian_dim(self, dim=-1, keepdim=False):
    """The lower medians along one dimension of the elements that are not NaN, and where they are."""
    return median_along(self, dim, keepdim, True)


def full_or_along(full, along, doc):
    """A reduction to a value without `dim`, to named (values, indices) with it."""
    def reduction(input, dim=None, keepdim=False, *, out=None):
        if dim is None:
            return full(input)
        if out is None:
            return along(input, dim, keepdim)
        check_out_dtypes(full.name, out, input.dtype, dt.int64)
        return write_out(along, out, (input, dim, keepdim))
    reduction.__name__, reduction.__doc__ = full.name, doc
    return numpy_names(reduction)


name_node("median_dim", "MedianBackward1")
name_node("nanmedian_dim", "NanmedianBackward1")
publish("median", full_or_along(registry["median"], registry["median_dim"],
                                "The lower median; with `dim`, named (values, indices) along it."),
        ("", "Tensor"))
publish("nanmedian", full_or_along(registry["nanmedian"], registry["nanmedian_dim"],
                                   "`median` of the elements that are not NaN."), ("", "Tensor"))


def fake_kthvalue(self, k, dim=-1, keepdim=False):
    require_dim(dim, "kthvalue", 2)
    found = fake_values_and_indices("kthvalue")(self, dim, keepdim)
    dim = geometry.wrap_dim(dim, len(self._shape))
    if not 1 <= k <= (self._shape[dim] if self._shape else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    refuse_bool(self, "kthvalue_cpu")
    return found


@operator("kthvalue", jvp=select_tangent, fake=fake_kthvalue, outputs=VALUES_AND_INDICES, spaces=(),
          vjp={"self": select_gradient})
def kthvalue(self, k, dim=-1, keepdim=False):
    """The k-th smallest elements along one dimension (k from 1), and where they are."""
    require_dim(dim, "kthvalue", 2)
    check_has_order(self, "kthvalue")
    dim = geometry.wrap_dim(dim, self.ndim)
    if not 1 <= k <= (self.shape[dim] if self.ndim else 1):
        raise ValueError("k is out of range")
    ranks = np.full(reduced_shape(self.shape, (dim,), True), k - 1)
    return chosen_along(self, ranks, dim, keepdim)


def mode_of_row(row):
    """(value, index) of the most frequent element: of equally frequent ones the least, at its last index."""
    order = np.argsort(widened(row), kind="stable")
    ordered = row[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), row.size - 1)
    longest = np.argmax(np.diff(ends, prepend=-1))
    index = order[ends[longest]]
    return row[index], index


@operator("mode", jvp=select_tangent, fake=fake_values_and_indices("mode"), outputs=VALUES_AND_INDICES,
          spaces=(),
          vjp={"self": select_gradient})
def mode(self, dim=-1, keepdim=False):
    """The most frequent elements along one dimension and where they are; of equally frequent ones the least."""
    require_dim(dim, "mode")
    if not self.ndim:
        geometry.wrap_dim(dim, 0)
        return np.array(self), np.zeros((), np.int64)
    rows = np.moveaxis(self, dim, -1)
    if not rows.shape[-1]:
        raise IndexError("mode() needs elements")
    shape = reduced_shape(self.shape, (geometry.wrap_dim(dim, self.ndim),), keepdim)
    found = [mode_of_row(rows[i]) for i in np.ndindex(rows.shape[:-1])]
    return (np.array([value for value, _ in found], self.dtype).reshape(shape),
            np.array([index for _, index in found], np.int64).reshape(shape))


def check_kthvalue_out(name, input, out):
    """The values go elsewhere than where the input is, which is still being read."""
    if out[0].dtype is not input.dtype:
        raise RuntimeError("output values must be of same type as input")
    if out[1].dtype is not dt.int64:
        raise RuntimeError("output indices must be of scalar type Long")
    if np.may_share_memory(array_of(input), array_of(out[0])):
        raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer "
                           "to a single memory location. Please clone() the tensor before performing the operation.")


publish("kthvalue", numpy_names(with_out_check(kthvalue, "kthvalue", check_kthvalue_out)), ("", "Tensor"))
publish("mode", numpy_names(mode, own_and_index_dtype), ("", "Tensor"))


# ---- quantile

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile_of(name, input, q, dim, keepdim, interpolation, ignores_nan):
    """Quantiles as PyTorch composes them: sort, gather the neighbours of the rank, interpolate."""
    q = as_quantiles(name, q, input)
    check_quantile(name, input, q, interpolation)
    rows = rows_along(input, dim)
    found = interpolated(rows.sort(-1)[0], q.reshape(-1), interpolation, ignores_nan)
    if dim is None or not input.dim():
        found = found.reshape(*[1] * input.dim() * keepdim, q.numel())
    elif not keepdim:
        found = found.squeeze(dim if dim >= 0 else dim + input.dim())
    return found.movedim(-1, 0) if q.dim() else found.squeeze(-1)


def rows_along(input, dim):
    """All elements as one row, or the rows along `dim` last, with a size of 1 left where they were."""
    if dim is None:
        return input.reshape(-1)
    dim = geometry.wrap_dim(dim, input.dim())
    return input.unsqueeze(-1).transpose(dim, -1)


def as_quantiles(name, q, input):
    if isinstance(q, Tensor):
        return q
    if not isinstance(q, numbers.Real):
        raise TypeError(f"{name}(): argument 'q' (position 2) must be Tensor or float, not "
                        f"{type(q).__name__}")
    if not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
    return exports[""]["tensor"](float(q), dtype=input.dtype, device=input.device)


def check_quantile(name, input, q, interpolation):
    if input.dtype not in (dt.float32, dt.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if q.dim() > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
                           f"got {interpolation}")
    values = array_of(q)
    if not ((values >= 0) & (values <= 1)).all():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")


def interpolated(ordered, q, interpolation, ignores_nan):
    """The quantiles of sorted rows (..., n), as (..., number of quantiles)."""
    ranks = rank_of(ordered, q, ignores_nan)
    if interpolation == "nearest":
        return ordered.gather(-1, ranks.round().long())
    below = ranks.floor() if interpolation != "higher" else ranks.ceil()
    found = ordered.gather(-1, below.long())
    if interpolation in ("lower", "higher"):
        return found
    above = ordered.gather(-1, ranks.ceil().long())
    return found.lerp(above, 0.5 if interpolation == "midpoint" else ranks - below)


def rank_of(ordered, q, ignores_nan):
    """The (fractional) position of each quantile in its row; in a row with NaN that of a NaN."""
    missing = ordered.isnan()
    if ignores_nan:
        count = missing.logical_not().sum(-1, True)
        return (q * (count - 1)).masked_fill(count == 0, 0).expand(*ordered.shape[:-1], q.numel())
    last = ordered.shape[-1] - 1
    ranks = (q * last).expand(*ordered.shape[:-1], q.numel())
    return ranks.masked_fill(missing.any(-1, True), last)


def stored(name, found, out):
    """Serve `out=`."""
    if out.dtype is not found.dtype:
        raise RuntimeError(f"{name}() out tensor must be same dtype as the input tensor")
    return out.resize_(found.shape).copy_(found)


@numpy_names
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The q-th quantiles (a number or 1-dim tensor in [0, 1]) of all elements or along `dim`; NaN if one is.

    Interpolations: linear, lower, higher, midpoint, nearest. The quantiles of a 1-dim `q` come in front.
    """
    found = quantile_of("quantile", input, q, dim, keepdim, interpolation, False)
    return found if out is None else stored("quantile", found, out)


@numpy_names
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """`quantile` of the elements that are not NaN."""
    found = quantile_of("nanquantile", input, q, dim, keepdim, interpolation, True)
    return found if out is None else stored("nanquantile", found, out)


publish("quantile", quantile, ("", "Tensor"))
publish("nanquantile", nanquantile, ("", "Tensor"))
