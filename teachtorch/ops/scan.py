"""Running sums, products and extrema along a dimension; differences."""

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels import scan as scans
from ..kernels.pointwise import silently
from .declare import LINEAR, exports, operator, publish
from .fake import Fake
from .extrema import VALUES_AND_INDICES
from .reduction import has_zero, sum_dtype, total_dtype
from .reduction_arguments import numpy_names, own_and_index_dtype, own_dtype, require_dim, with_out_dtype
from .reduction_arrays import converted, is_number_array, widened


def scan_axis(dim, array, name):
    """The dimension counted from the front."""
    require_dim(dim, name)
    return geometry.wrap_dim(dim, array.ndim)


def reversed_along(t, dim):
    return t.flip(dim) if t._shape else t


def reversed_cumsum(t, dim):
    """Sums from the end."""
    if t.numel() <= 1 or t.size(dim) == 1:
        return t
    return t.flip(dim).cumsum(dim).flip(dim)


# ---- cumsum, cumprod

def fake_scan(name):
    """The fake rule of cumsum and cumprod."""
    def fake(self, dim, dtype=None):
        require_dim(dim, name)
        geometry.wrap_dim(dim, len(self._shape))
        if dtype is dt.bool:
            raise NotImplementedError(f'"{name}_out_cpu" not implemented for \'Bool\'')
        return Fake(self._shape, dtype or sum_dtype(self._dtype))
    return fake


def scanned(name, ufunc, array, dim, dtype):
    """The running sum or product; of 16-bit floats in float32, of float32 in float64, rounded at the end."""
    axis, total = scan_axis(dim, array, name), total_dtype(array, dtype)
    if total == np.bool_:
        raise TypeError(f"{name}() of bools needs another dtype")
    array = converted(array, dtype)
    if not array.ndim:
        return array.astype(total)
    if ufunc is np.add and array.dtype == total and scans.is_compiled(array):
        return scans.cumsum(array, axis)
    terms = array.astype(total)
    terms = terms.astype(np.float64) if total == np.float32 else widened(terms)
    found = silently(ufunc.accumulate, terms, axis)
    return np.ascontiguousarray(found.astype(total, copy=False))


@operator("cumsum", jvp=LINEAR, fake=fake_scan("cumsum"), inplace=True,
          vjp={"self": lambda grad, dim: reversed_cumsum(grad, dim)})
def cumsum(self, dim, *, dtype=None):
    """Running sums along `dim`; integers are summed as int64."""
    return scanned("cumsum", np.add, self, dim, dtype)


def cumprod_gradient(grad, self, dim, result):
    """Element k takes part in the products from k on: their weighted sum, divided by element k.

    Where an element is zero nothing can be divided by it. Then the sum is built up from the end: the products
    from k on, without element k, are 1 for the k-th and (element k + 1) times those of k + 1.
    """
    if not self._shape:
        return grad
    if not has_zero(self):
        return reversed_cumsum(grad * result, dim) / self
    dim, size = geometry.wrap_dim(dim, len(self._shape)), self.size(dim)
    ones = self.new_ones(self.narrow(dim, 0, 1)._shape)
    before = exports[""]["cat"]([ones, self.narrow(dim, 0, size - 1).cumprod(dim)], dim)
    following = exports[""]["cat"]([self.narrow(dim, 1, size - 1), ones], dim)
    return before * reversed_along(linear_recurrence(grad.flip(dim), following.flip(dim), dim), dim)


def cumprod_tangent(self_t, self, dim, result):
    """The product rule as a recurrence: tangent[k] = tangent[k-1] self[k] + result[k-1] self_t[k]."""
    if not self._shape or not self.numel():
        return self_t
    dim = geometry.wrap_dim(dim, len(self._shape))
    ones = self.new_ones(self.narrow(dim, 0, 1)._shape)
    before = exports[""]["cat"]([ones, result.narrow(dim, 0, self.size(dim) - 1)], dim)
    return linear_recurrence(before * self_t, self, dim)


@operator("cumprod", jvp=cumprod_tangent, fake=fake_scan("cumprod"), inplace=True,
          vjp={"self": cumprod_gradient})
def cumprod(self, dim, *, dtype=None):
    """Running products along `dim`; integers are multiplied as int64."""
    return scanned("cumprod", np.multiply, self, dim, dtype)


def shifted(t, dim):
    """Each element in its successor's place, zero in the first."""
    zeros = t.new_zeros(t.narrow(dim, 0, 1)._shape)
    return exports[""]["cat"]([zeros, t.narrow(dim, 0, t.size(dim) - 1)], dim)


def recurrence_gradient(grad, factor, dim):
    """A recurrence from the end: what later results owe to each one."""
    owed = exports[""]["cat"]([factor.narrow(dim, 1, factor.size(dim) - 1),
                               factor.new_zeros(factor.narrow(dim, 0, 1)._shape)], dim)
    return linear_recurrence(grad.flip(dim), owed.flip(dim), dim).flip(dim)


def recurrence_tangent(self_t, factor_t, factor, dim, result):
    """A recurrence itself, of what either argument's tangent adds at each step."""
    added = 0 if self_t is None else self_t
    if factor_t is not None:
        added = added + factor_t * shifted(result, dim)
    return linear_recurrence(added, factor, dim)


@operator("_linear_recurrence", out=False, spaces=(), jvp=recurrence_tangent,
          fake=lambda self, factor, dim: Fake(self._shape, self._dtype),
          vjp={"self": lambda grad, factor, dim: recurrence_gradient(grad, factor, dim),
               "factor": lambda grad, factor, dim, result: recurrence_gradient(grad, factor, dim)
               * shifted(result, dim)})
def linear_recurrence(self, factor, dim):
    """result[k] = self[k] + factor[k] * result[k - 1] along `dim`, from result[-1] = 0."""
    result = np.empty(self.shape, self.dtype)
    terms, factors, results = (np.moveaxis(a, dim, 0) for a in (self, factor, result))
    last = 0
    for k in range(len(results)):
        last = results[k] = terms[k] + factors[k] * last
    return result


# ---- cummax, cummin

def fake_running_extremum(name):
    def fake(self, dim):
        require_dim(dim, name)
        if not self._shape and dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        geometry.wrap_dim(dim, len(self._shape))
        return Fake(self._shape, self._dtype), Fake(self._shape, dt.int64)
    return fake


def running_extremum(name, ufunc, at_least, array, dim):
    """(values, indices) of the extremum so far: the last of equal ones, from the first NaN on the last NaN."""
    axis = scan_axis(dim, array, name)
    if not array.ndim:
        return np.array(array), np.zeros((), np.int64)
    values = np.ascontiguousarray(ufunc.accumulate(array, axis))
    wide, best = widened(array), widened(values)
    is_new = at_least(wide, best) | np.isnan(wide)
    steps = np.arange(array.shape[axis]).reshape([-1 if d == axis else 1 for d in range(array.ndim)])
    return values, np.ascontiguousarray(np.maximum.accumulate(np.where(is_new, steps, 0), axis))


def scatter_added(grad, dim, indices):
    """The gradients added up at the indices they came from."""
    return grad.new_zeros(grad._shape).scatter_add(dim, indices, grad)


@operator("cummax", fake=fake_running_extremum("cummax"), outputs=VALUES_AND_INDICES,
          jvp=lambda self_t, dim, indices: (self_t.gather(dim, indices), None),
          vjp={"self": lambda grads, self_shape, dim, indices: scatter_added(grads[0], dim, indices)})
def cummax(self, dim):
    """The largest elements so far along `dim` and where they are; NaN stays."""
    return running_extremum("cummax", np.maximum, np.greater_equal, self, dim)


@operator("cummin", fake=fake_running_extremum("cummin"), outputs=VALUES_AND_INDICES,
          jvp=lambda self_t, dim, indices: (self_t.gather(dim, indices), None),
          vjp={"self": lambda grads, self_shape, dim, indices: scatter_added(grads[0], dim, indices)})
def cummin(self, dim):
    """The smallest elements so far along `dim` and where they are; NaN stays."""
    return running_extremum("cummin", np.minimum, np.less_equal, self, dim)


# ---- logcumsumexp

def fake_logcumsumexp(self, dim):
    require_dim(dim, "logcumsumexp")
    geometry.wrap_dim(dim, len(self._shape))
    if self._dtype.category != dt.FLOATING:
        name = scalar_type_name(self._dtype)
        raise NotImplementedError(f'"logcumsumexp_out_cpu" not implemented for \'{name}\'')
    return Fake(self._shape, self._dtype)


def log_parts(t):
    """log of the positive and of the negative part, so that signed terms can be added in log space.

    The log of 0 is the lowest number: with -inf the derivatives would be NaN.
    """
    where, lowest = registry["where"], dt.finfo(t._dtype).min
    for sign in (1, -1):
        is_there = sign * t > 0
        yield where(is_there, where(is_there, sign * t, 1.0).log(), lowest)


def logcumsumexp_gradient(grad, self, dim, result):
    """sum over i >= k of grad[i] exp(self[k] - result[i]), added up in log space for either sign of grad."""
    def part(log_grad):
        ahead = reversed_along(reversed_along(log_grad - result, dim).logcumsumexp(dim), dim)
        return (ahead + self).exp()
    positive, negative = log_parts(grad)
    return part(positive) - part(negative)


def logcumsumexp_tangent(self_t, self, dim, result):
    positive, negative = [((self + part).logcumsumexp(dim) - result).exp() for part in log_parts(self_t)]
    return positive - negative


@operator("logcumsumexp", jvp=logcumsumexp_tangent, fake=fake_logcumsumexp,
          vjp={"self": logcumsumexp_gradient})
def logcumsumexp(self, dim):
    """log of the running sums of exp(self) along `dim`, without overflow."""
    axis = scan_axis(dim, self, "logcumsumexp")
    if is_number_array(self):
        raise TypeError("logcumsumexp() needs floating point numbers")
    if not self.ndim:
        return np.array(self)
    found = silently(np.logaddexp.accumulate, widened(self), axis)
    return np.ascontiguousarray(found.astype(self.dtype, copy=False))


# ---- diff

def check_diff_part(input, part, dim):
    if part.dim() != input.dim():
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for i in range(input.dim()):
        if i != dim and part.size(i) != input.size(i):
            raise RuntimeError("diff expects the shape of tensor to prepend or append to match that of input except "
                               f"along the differencing dimension; input.size({i}) = {input.size(i)}, but got "
                               f"tensor.size({i}) = {part.size(i)}")


def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """The n-th differences of neighbours along `dim`, after joining `prepend` and `append`; of bools, whether
    they differ."""
    if not input.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional")
    n = geometry.as_int(n, "n")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = geometry.wrap_dim(dim, input.dim())
    if n == 0:
        prepend = append = None
    parts = [part for part in (prepend, input, append) if part is not None]
    for part in parts:
        check_diff_part(input, part, dim)
    joined = exports[""]["cat"](parts, dim) if len(parts) > 1 else input
    found = differences(joined, min(n, joined.size(dim)), dim)
    return found if out is None else out.resize_(found.shape).copy_(found)


def differences(t, n, dim):
    if n == 0:
        return t.clone()
    for _ in range(n):
        size = max(t.size(dim) - 1, 0)
        upper, lower = t.narrow(dim, min(1, t.size(dim)), size), t.narrow(dim, 0, size)
        t = upper.logical_xor(lower) if t.dtype is dt.bool else upper - lower
    return t


publish("diff", numpy_names(diff), ("", "Tensor"))
for _name in ("cumsum", "cumprod"):
    publish(_name, with_out_dtype(numpy_names(exports[""][_name])), ("", "Tensor"))
for _name in ("cummax", "cummin"):
    publish(_name, numpy_names(exports[""][_name], own_and_index_dtype), ("", "Tensor"))
publish("logcumsumexp", numpy_names(exports[""]["logcumsumexp"], own_dtype), ("", "Tensor"))
