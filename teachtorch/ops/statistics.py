"""Variance, standard deviation, covariance."""
import math
import warnings

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels import reduce as folds
from ..kernels.pointwise import cast, silently
from ..tensor import Tensor
from .declare import operator, publish, write_out
from .fake import Fake
from .reduction_arguments import (axis_of, dims_of, numpy_names, reduced_count,
                                  reduced_shape, restored)
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
