"""Variance, medians, quantiles, covariance, histograms."""
import math
import numbers
import warnings

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels import reduce as folds
from ..kernels.pointwise import cast, silently
from ..tensor import Tensor, array_of
from .declare import exports, operator, publish, write_out
from .fake import Fake, stand_in
from .extrema import (VALUES_AND_INDICES, fake_values_and_indices, select_gradient, select_tangent, share_evenly,
                      share_evenly_tangent)
from .node_names import name_node
from .reduction_arguments import (axis_of, check_out_dtypes, dims_of, numpy_names, own_and_index_dtype, reduced_count,
                                  reduced_shape, require_dim, restored, with_out_check)
from .reduction_arrays import dense, is_number_array, widened

# ---- var, std


def check_spread_dtype(self, message):
    if self._dtype.category != dt.FLOATING:
        raise RuntimeError(f"{message} only support floating point and complex dtypes")


def fake_spread(self, dim=None, correction=None, keepdim=False):
    check_spread_dtype(self, "std and var")
    return Fake(reduced_shape(self._shape, dims_of(dim, len(self._shape)), keepdim), self._dtype)


def fake_spread_and_mean(name):
    def fake(self, dim=None, correction=None, keepdim=False):
        check_spread_dtype(self, name)
        found = Fake(reduced_shape(self._shape, dims_of(dim, len(self._shape)), keepdim), self._dtype)
        return found, found
    return fake


def freedom(shape, dim, correction):
    """Degrees of freedom: the count less the correction (default 1, Bessel's)."""
    return reduced_count(shape, dim) - (1 if correction is None else correction)


def warn_of_freedom(name, shape, dim, correction):
    if freedom(shape, dim, correction) <= 0:
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
                      "factor (input numel divided by output numel).", stacklevel=3)


def variance_of(name, array, dim, correction, keepdim):
    """The variance in the array's dtype, accumulated in float64."""
    if is_number_array(array):
        raise TypeError(f"{name}() needs floating point numbers")
    dims = dims_of(dim, array.ndim)
    correction = 1 if correction is None else correction
    if array.size <= folds.SMALL:
        divisor = max(reduced_count(array.shape, dim) - correction, 0)
        return small_variance(array, dims if array.ndim else None, divisor, keepdim)
    return dense(silently(folds.var, array, dims, correction, keepdim))


def small_variance(array, axis, divisor, keepdim):
    """The mean square distance from the mean, in float64."""
    def compute():
        count = array.size if axis is None else math.prod([array.shape[d] for d in axis])
        rest = array.astype(np.float64)
        rest -= np.add.reduce(rest, axis, None, None, True) / (count or math.nan)
        rest *= rest
        return (np.add.reduce(rest, axis, None, None, keepdim) / np.float64(divisor)).astype(array.dtype)
    return dense(silently(compute))


def mean_around(array, dim, keepdim):
    """The mean beside a variance; NaN of no elements."""
    axis, count = axis_of(dim, array.ndim), reduced_count(array.shape, dim)
    total = silently(np.add.reduce, widened(array), axis, None, None, keepdim)
    return np.asarray(dense((total / (count or math.nan)).astype(array.dtype)))


def deviation_of(name, array, dim, correction, keepdim):
    """The root of the variance. A square that is too large for 16 bits may well have a root that fits."""
    variance = variance_of(name, widened(array), dim, correction, keepdim)
    return cast(np.asarray(silently(np.sqrt, variance)), array.dtype)


def variance_gradient(grad, self, dim, correction, keepdim):
    """2 / freedom * (self - mean), times the gradient."""
    dims = dims_of(dim, len(self._shape))
    grad = restored(grad, self._shape, dims, keepdim)
    return grad * (2 / positive_freedom(self, dim, correction)) * (self - self.mean(dims, True))


def positive_freedom(self, dim, correction):
    """The divisor; NaN where there is none."""
    found = freedom(self._shape, dim, correction)
    return found if found > 0 else math.nan


def deviation_gradient(grad, self, dim, correction, keepdim, result):
    """Through the square root, whose infinite slope at 0 is taken as 0."""
    through_root = (grad / (result * 2)).masked_fill(result == 0, 0)
    return variance_gradient(through_root, self, dim, correction, keepdim)


def variance_tangent(self_t, self, dim, correction, keepdim):
    centred = self - self.mean(dims_of(dim, len(self._shape)), True)
    return (centred * self_t).sum(dim, keepdim) * (2 / positive_freedom(self, dim, correction))


def deviation_tangent(self_t, self, dim, correction, keepdim, result):
    through_root = variance_tangent(self_t, self, dim, correction, keepdim) / (result * 2)
    return through_root.masked_fill(result == 0, 0)


def mean_gradient(grad, self, dim, keepdim):
    dims = dims_of(dim, len(self._shape))
    count = reduced_count(self._shape, dim)
    return restored(grad / count, self._shape, dims, keepdim).expand(self._shape)


def added(parts):
    """The sum of the gradients that there are."""
    parts = [part for part in parts if part is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def variance_mean_gradient(grads, self, dim, correction, keepdim):
    return added([None if grads[0] is None else variance_gradient(grads[0], self, dim, correction, keepdim),
                  None if grads[1] is None else mean_gradient(grads[1], self, dim, keepdim)])


def deviation_mean_gradient(grads, self, dim, correction, keepdim, result0):
    parts = [None, None]
    if grads[0] is not None:
        parts[0] = deviation_gradient(grads[0], self, dim, correction, keepdim, result0)
    if grads[1] is not None:
        parts[1] = mean_gradient(grads[1], self, dim, keepdim)
    return added(parts)


@operator("var", jvp=variance_tangent, fake=fake_spread, spaces=(), vjp={"self": variance_gradient})
def var_(self, dim=None, correction=None, keepdim=False):
    """The variance over `dim` (default: all), divided by the count less `correction` (default 1)."""
    return variance_of("var", self, dim, correction, keepdim)


@operator("std", jvp=deviation_tangent, fake=fake_spread, spaces=(), vjp={"self": deviation_gradient})
def std_(self, dim=None, correction=None, keepdim=False):
    """The square root of the variance over `dim` (default: all)."""
    return deviation_of("std", self, dim, correction, keepdim)


@operator("var_mean", fake=fake_spread_and_mean("var_mean"), outputs=("result0", "result1"), spaces=(),
          out=False,
          jvp=lambda self_t, self, dim, correction, keepdim: (
              variance_tangent(self_t, self, dim, correction, keepdim), self_t.mean(dim, keepdim)),
          vjp={"self": variance_mean_gradient})
def var_mean_(self, dim=None, correction=None, keepdim=False):
    """The variance and the mean over `dim` (default: all)."""
    variance = np.asarray(variance_of("var_mean", self, dim, correction, keepdim))
    return variance, mean_around(self, dim, keepdim)


@operator("std_mean", fake=fake_spread_and_mean("std_mean"), outputs=("result0", "result1"), spaces=(),
          out=False,
          jvp=lambda self_t, self, dim, correction, keepdim, result0: (
              deviation_tangent(self_t, self, dim, correction, keepdim, result0), self_t.mean(dim, keepdim)),
          vjp={"self": deviation_mean_gradient})
def std_mean_(self, dim=None, correction=None, keepdim=False):
    """The standard deviation and the mean over `dim` (default: all)."""
    return deviation_of("std_mean", self, dim, correction, keepdim), mean_around(self, dim, keepdim)


def spread_function(name, doc):
    """var, std, var_mean, std_mean: `correction=` or the older `unbiased`, which may come first."""
    chosen = registry[name]

    def spread(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
        if dim.__class__ is bool:
            dim, unbiased = None, dim
        if unbiased is not None:
            if correction is not None:
                raise TypeError(f"{name}() received an invalid combination of arguments: unbiased and correction "
                                "exclude each other")
            correction = 1 if unbiased else 0
        args = (input, dim, correction, keepdim)
        found = chosen(*args) if out is None else write_out(chosen, out, args)
        warn_of_freedom(name, input._shape, dim, correction)
        return found
    spread.__name__, spread.__doc__ = name, doc
    return numpy_names(spread)


for _name, _of in (("var", "variance"), ("std", "standard deviation")):
    _doc = f"The {_of} over `dim` (default: all); `correction` (default 1) is taken off the count."
    publish(_name, spread_function(_name, _doc), ("", "Tensor"))
    _doc = f"The {_of} and the mean over `dim` (default: all)."
    publish(f"{_name}_mean", spread_function(f"{_name}_mean", _doc), ("",))


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


# ---- covariance

def check_weights(kind, weights, count):
    if weights.dim() > 1:
        raise RuntimeError(f"cov(): expected {kind}weights to have one or fewer dimensions but got "
                           f"{kind}weights with "
                           f"{weights.dim()} dimensions")
    is_integral = weights.dtype.category == dt.INTEGRAL
    if is_integral != (kind == "f"):
        wanted = "integral" if kind == "f" else "floating point"
        raise RuntimeError(f"cov(): expected {kind}weights to have {wanted} dtype but got {kind}weights with "
                           f"{scalar_type_name(weights.dtype)} dtype")
    if weights.numel() != count:
        raise RuntimeError(f"cov(): expected {kind}weights to have the same numel as there are observations in the "
                           f"input but got {weights.numel()} != {count}")
    if count and bool((weights.detach() < 0).any()):
        raise RuntimeError(f"cov(): {kind}weights cannot be negative")


def joint_weights(fweights, aweights, count):
    """How often and how much each observation counts; None if all count alike."""
    for kind, weights in (("f", fweights), ("a", aweights)):
        if weights is not None:
            check_weights(kind, weights, count)
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return fweights * aweights


def cov_freedom(weights, aweights, count, correction):
    """What the summed products are divided by."""
    if weights is None:
        return count - correction
    total = weights.sum()
    if aweights is None or correction == 0:
        return total - correction
    return total - correction * (weights * aweights).sum() / total


def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of variables (rows) over observations (columns), divided by the count less
    `correction`;
    `fweights`: int repetitions and `aweights`: float importances of the observations."""
    if input.dim() > 2:
        raise RuntimeError("cov(): expected input to have two or fewer dimensions but got an input with "
                           f"{input.dim()} dimensions")
    if input.dtype is dt.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    variables = input.reshape(1, -1) if input.dim() < 2 else input
    count = variables.shape[1]
    weights = joint_weights(fweights, aweights, count)
    mean = weighted_mean(variables, weights, count)
    divisor = warned_freedom(cov_freedom(weights, aweights, count, correction))
    centred = variables - mean
    scaled = centred if weights is None else centred * weights
    products = centred.matmul(scaled.t())
    return (products / divisor).squeeze()


def weighted_mean(variables, weights, count):
    if weights is None:
        return variables.sum(1, True) / count
    total = weights.sum()
    if count and float(total.detach()) == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    return (variables * weights).sum(1, True) / total


def warned_freedom(divisor):
    """The divisor, at least 0."""
    if (divisor.detach() if isinstance(divisor, Tensor) else divisor) > 0:
        return divisor
    warnings.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
                  "observations.", stacklevel=3)
    return 0


def corrcoef(input):
    """The matrix of correlation coefficients of variables (rows) over observations (columns)."""
    if input.dim() > 2:
        raise RuntimeError("corrcoef(): expected input to have two or fewer dimensions but got an input with "
                           f"{input.dim()} dimensions")
    covariance = input.cov()
    if covariance.dim() == 0:
        return covariance / covariance
    deviation = covariance.diagonal().sqrt()
    return (covariance / deviation.unsqueeze(1) / deviation.unsqueeze(0)).clamp(-1, 1)


publish("cov", cov, ("", "Tensor"))
publish("corrcoef", corrcoef, ("", "Tensor"))


# ---- counts

@operator("bincount", out=False)
def bincount(self, weights=None, minlength=0):
    """How often each of 0, 1, ... occurs in a 1-dim integer tensor, or the sum of its `weights`."""
    check_bincount(self, weights, minlength)
    count = max(int(self.max()) + 1 if self.size else 0, minlength)
    if weights is None:
        return np.bincount(self, minlength=count).astype(np.int64)
    if not self.size:
        return np.zeros(count, np.float32 if weights.dtype == np.float32 else np.float64)
    found = np.bincount(self, weights.astype(np.float64), count)
    return found.astype(np.float32) if weights.dtype == np.float32 else found


def check_bincount(values, weights, minlength):
    if values.dtype.kind not in "iu":
        name = scalar_type_name(dt.from_numpy(values.dtype))
        raise NotImplementedError(f'"bincount_cpu" not implemented for \'{name}\'')
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if values.ndim != 1 or values.size and values.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != values.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")


def histogram_range(array, low, high):
    """The range asked for; that of the data if low == high; widened by 1 to each side if it is a point."""
    if high < low:
        raise RuntimeError("torch.histc: max must be larger than min")
    if low == high and array.size:
        low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    return (low - 1, high + 1) if low == high else (low, high)


def check_histc(array, bins, low, high):
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if is_number_array(array):
        name = scalar_type_name(dt.from_numpy(array.dtype))
        raise NotImplementedError(f'"histogram_cpu" not implemented for \'{name}\'')
    if low != high:
        histogram_range(array, low, high)


def fake_histc(self, bins=100, min=0, max=0):
    check_histc(stand_in(self), bins, min, max)
    return Fake((bins,), self._dtype)


@operator("histc", fake=fake_histc)
def histc(self, bins=100, min=0, max=0):
    """Counts, as floats, in `bins` equal bins from `min` to `max` (both 0: the range of the data)."""
    check_histc(self, bins, min, max)
    array = widened(self).reshape(-1)
    low, high = histogram_range(array, min, max)
    inside = array[(array >= low) & (array <= high)]
    which = ((inside - low) / (high - low) * bins).astype(np.int64)
    return np.bincount(np.minimum(which, bins - 1), minlength=bins).astype(self.dtype)
