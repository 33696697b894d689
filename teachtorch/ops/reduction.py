"""Sums, means, products, truth and counts over some or all dimensions.

What PyTorch overloads (`sum()`, `sum(dim)`) is an operator each here too; the function that users call chooses among
them.
"""
import math

import numpy as np

from ..core import dtype as dt
from ..core import geometry, settings
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels import reduce as folds
from ..kernels.pointwise import silently
from .declare import LINEAR, exports, operator, publish, write_out
from .fake import Fake
from .node_names import name_node
from .reduction_arguments import (axis_of, check_truth_out, dims_of, names_none, numpy_names, reduced_count,
                                  reduced_shape, require_dim, restored, with_out_check, with_out_dtype)
from .reduction_arrays import (FLOAT32, LOW_PRECISION, PLAIN, accumulated, add_up, converted, dense, is_number_array,
                               multiplied, quick_size, summed, widened)


# ---- sum, mean, prod

def sum_dtype(dtype):
    """Sums and products of integers and bools are int64."""
    return dtype if dtype.category == dt.FLOATING else dt.int64


def total_dtype(array, dtype):
    """The NumPy dtype of a sum or product."""
    if dtype is not None:
        return dtype.numpy
    return dt.int64.numpy if is_number_array(array) else array.dtype


def spread(grad, shape):
    """One element, everywhere: an array of the shape with strides of 0, as `expand` makes it."""
    return np.ndarray(shape, grad.dtype, grad, 0, (0,) * len(shape))


def filled(number, shape):
    """An array of one number, with memory of its own: unlike a sum's gradient, a mean's may be changed in place."""
    found = np.empty(shape, number.dtype)
    found[...] = number
    return found


def fake_total(self, dtype=None):
    return Fake((), dtype or sum_dtype(self._dtype))


def fake_sum_dim(self, dim=None, keepdim=False, dtype=None):
    dims = dims_of(dim, len(self._shape))
    return Fake(reduced_shape(self._shape, dims, keepdim), dtype or sum_dtype(self._dtype))


@operator("sum", jvp=LINEAR, fake=fake_total, spaces=(), vjp={
    "self": lambda grad, self_shape: grad.expand(self_shape)}, arrays={
    "self": lambda grad, self_shape: spread(grad, self_shape)})
def sum_all(self, *, dtype=None):
    """The sum of all elements."""
    if dtype is None and self.dtype.char in PLAIN and self.size <= folds.SMALL:
        return silently(add_up, self, None)
    return summed(converted(self, dtype), None, False, total_dtype(self, dtype))


@operator("sum_dim", jvp=LINEAR, fake=fake_sum_dim, spaces=(), vjp={
    "self": lambda grad, self_shape, dim, keepdim: restored(
        grad, self_shape, dim, keepdim).expand(self_shape)})
def sum_dim(self, dim=None, keepdim=False, *, dtype=None):
    """The sums over the dimensions `dim` (int or tuple)."""
    axis = axis_of(dim, self.ndim)
    if dtype is None and self.dtype.char in PLAIN and self.size <= quick_size(axis, self.ndim):
        return dense(silently(add_up, self, axis, None, None, keepdim))
    return summed(converted(self, dtype), axis, keepdim, total_dtype(self, dtype))


def sum_(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """The sum of all elements, or over the dimensions `dim` (int or tuple); integers are summed as int64."""
    dim, keepdim = (axis if dim is None else dim), keepdim or keepdims
    if out is not None:
        return write_out(registry["sum_dim"], out, (input, dim, keepdim, dtype or out.dtype))
    if dim is None and not keepdim:
        return _sum(input, dtype)
    return _sum_dim(input, dim, keepdim, dtype)


_sum, _sum_dim = registry["sum"].call, registry["sum_dim"].call
name_node("sum_dim", "SumBackward1")
publish("sum", sum_, ("", "Tensor"))


def check_mean_dtype(self, dtype):
    if dtype is not None and dtype.category != dt.FLOATING:
        raise RuntimeError("mean(): could not infer output dtype. Optional dtype must be either a floating point or "
                           f"complex dtype. Got: {scalar_type_name(dtype)}")
    if dtype is None and self._dtype.category != dt.FLOATING:
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {scalar_type_name(self._dtype)}")


def fake_mean(self, dtype=None):
    check_mean_dtype(self, dtype)
    return Fake((), dtype or self._dtype)


def fake_mean_dim(self, dim=None, keepdim=False, dtype=None):
    check_mean_dtype(self, dtype)
    return Fake(reduced_shape(self._shape, dims_of(dim, len(self._shape)), keepdim), dtype or self._dtype)


def mean_of(array, axis, keepdim, count, dtype):
    """The sum divided by the count; of no elements NaN. 16-bit floats are rounded once, at the end."""
    if dtype is None and array.dtype.char in PLAIN and array.size <= quick_size(axis, array.ndim):
        return dense(silently(add_up, array, axis, None, None, keepdim) / (count or math.nan))
    array = converted(array, dtype)
    if is_number_array(array):
        raise TypeError("mean() needs floating point numbers")
    if array.size > folds.NAIVE:
        return dense(folds.mean(array, dims_of(axis, array.ndim), keepdim))
    via = FLOAT32 if array.dtype in LOW_PRECISION else array.dtype
    found = silently(np.add.reduce, array, axis, via, None, keepdim) / (count or math.nan)
    return dense(found if via is array.dtype else found.astype(array.dtype))


@operator("mean", jvp=LINEAR, fake=fake_mean, spaces=(), vjp={
    "self": lambda grad, self_shape: grad.expand(self_shape) / math.prod(self_shape)}, arrays={
    "self": lambda grad, self_shape: filled(grad / grad.dtype.type(math.prod(self_shape)), self_shape)})
def mean_all(self, *, dtype=None):
    """The mean of all elements."""
    return mean_of(self, None, False, self.size, dtype)


@operator("mean_dim", jvp=LINEAR, fake=fake_mean_dim, spaces=(), vjp={
    "self": lambda grad, self_shape, dim, keepdim: restored(
        grad, self_shape, dim, keepdim).expand(self_shape) / reduced_count(self_shape, dim)})
def mean_dim(self, dim=None, keepdim=False, *, dtype=None):
    """The means over the dimensions `dim` (int or tuple)."""
    return mean_of(self, axis_of(dim, self.ndim), keepdim, reduced_count(self.shape, dim), dtype)


def mean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """The mean of all elements, or over the dimensions `dim` (int or tuple). RuntimeError for integers and
    bools, unless a floating `dtype` is given to convert them to."""
    dim, keepdim = (axis if dim is None else dim), keepdim or keepdims
    if out is not None:
        check_mean_dtype(input, dtype)
        return write_out(registry["mean_dim"], out, (input, dim, keepdim, dtype or out.dtype))
    if dim is None and not keepdim:
        return _mean(input, dtype)
    return _mean_dim(input, dim, keepdim, dtype)


_mean, _mean_dim = registry["mean"].call, registry["mean_dim"].call
name_node("mean_dim", "MeanBackward1")
publish("mean", mean, ("", "Tensor"))


def product_of_others(self, dim):
    """The product of all others along `dim`, without dividing: exact where elements are zero."""
    ones = self.new_ones(reduced_shape(self._shape, (dim,), True))
    size = self._shape[dim]
    before = exports[""]["cat"]([ones, self.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    after = exports[""]["cat"]([ones, self.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return before * after


def prod_gradient(grad, self, result):
    """The product divided by each element, unless an element is zero."""
    if not self._shape:
        return grad
    if not has_zero(self):
        return grad * result / self
    return grad * product_of_others(self.reshape(-1), 0).reshape(self._shape)


def prod_dim_gradient(grad, self, dim, keepdim, result):
    if not self._shape:
        return grad
    grad = restored(grad, self._shape, dim, keepdim)
    if not has_zero(self):
        return grad * restored(result, self._shape, dim, keepdim) / self
    return grad * product_of_others(self, geometry.wrap_dim(dim, len(self._shape)))


def has_zero(t):
    return bool((t.detach() == 0).any())


def prod_tangent(self_t, self, result):
    return (prod_gradient(result.new_ones(()), self, result) * self_t).sum()


def prod_dim_tangent(self_t, self, dim, keepdim, result):
    slopes = prod_dim_gradient(result.new_ones(result._shape), self, dim, keepdim, result)
    return (slopes * self_t).sum(dim, keepdim)


def fake_prod_dim(self, dim, keepdim=False, dtype=None):
    require_dim(dim, "prod")
    return fake_sum_dim(self, dim, keepdim, dtype)


@operator("prod", jvp=prod_tangent, fake=fake_total, spaces=(), vjp={"self": prod_gradient})
def prod_all(self, *, dtype=None):
    """The product of all elements."""
    return multiplied(converted(self, dtype), None, False, total_dtype(self, dtype))


@operator("prod_dim", jvp=prod_dim_tangent, fake=fake_prod_dim, spaces=(), vjp={"self": prod_dim_gradient})
def prod_dim(self, dim, keepdim=False, *, dtype=None):
    """The products along one dimension."""
    require_dim(dim, "prod")
    return multiplied(converted(self, dtype), dim, keepdim, total_dtype(self, dtype))


@numpy_names
def prod(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The product of all elements, or along one dimension; integers are multiplied as int64."""
    dtype = out.dtype if dtype is None and out is not None else dtype
    name, args = ("prod", (input, dtype)) if dim is None else ("prod_dim", (input, dim, keepdim, dtype))
    return registry[name].call(*args) if out is None else write_out(registry[name], out, args)


name_node("prod_dim", "ProdBackward1")
publish("prod", prod, ("", "Tensor"))


# ---- all, any, count_nonzero

def fake_truth(self, dim=None, keepdim=False):
    dims = () if names_none(dim) else dims_of(dim, len(self._shape))
    return Fake(reduced_shape(self._shape, dims, keepdim), dt.uint8 if self._dtype is dt.uint8 else dt.bool)


def truth_over(ufunc, array, dim, keepdim):
    """all or any: an empty tuple of dimensions reduces nothing here. uint8 answers in uint8."""
    found = array.astype(np.bool_)
    if not names_none(dim):
        found = dense(ufunc.reduce(found, axis_of(dim, array.ndim), None, None, keepdim))
    return found.astype(np.uint8) if array.dtype == np.uint8 else found


@operator("all", fake=fake_truth, spaces=())
def all_(self, dim=None, keepdim=False):
    """Whether all elements are nonzero, overall or over the dimensions `dim`; bool (uint8 for uint8)."""
    return truth_over(np.logical_and, self, dim, keepdim)


@operator("any", fake=fake_truth, spaces=())
def any_(self, dim=None, keepdim=False):
    """Whether any element is nonzero, overall or over the dimensions `dim`; bool (uint8 for uint8)."""
    return truth_over(np.logical_or, self, dim, keepdim)


@operator("count_nonzero", out=False, spaces=(),
          fake=lambda self, dim=None: Fake(reduced_shape(self._shape, dims_of(dim, len(self._shape)), False),
                                           dt.int64))
def count_nonzero(self, dim=None):
    """How many elements are not zero, overall or over the dimensions `dim`; int64."""
    return summed(self.astype(np.bool_), axis_of(dim, self.ndim), False, dt.int64.numpy)


# ---- logsumexp, nansum, nanmean

def fake_logsumexp(self, dim, keepdim=False):
    if dim is None:
        raise TypeError("logsumexp(): argument 'dim' (position 1) must be tuple of ints, not NoneType")
    dtype = self._dtype if self._dtype.category == dt.FLOATING else settings.default_dtype
    return Fake(reduced_shape(self._shape, dims_of(dim, len(self._shape)), keepdim), dtype)


def logsumexp_weights(self, dim, keepdim, result):
    """exp(self - result), the softmax; NaN where the result is inf. Where all is -inf, no element has a share in the sum:
    0, not the NaN of PyTorch (https://github.com/pytorch/pytorch/issues/31829)."""
    total = restored(result, self._shape, dim, keepdim)
    return (self - total.masked_fill(total == -math.inf, 0)).exp()


def logsumexp_of(array, axis, keepdim):
    if not array.size:
        return np.log(np.add.reduce(array, axis, None, None, keepdim))
    top = np.maximum.reduce(array, axis, None, None, True)
    top = np.where(np.isinf(top), 0, top)
    logs = np.log(np.add.reduce(np.exp(array - top), axis, None, None, keepdim))
    return logs + (top if keepdim else top.reshape(logs.shape))


@operator("logsumexp", fake=fake_logsumexp, spaces=(),
          jvp=lambda self_t, self, dim, keepdim, result: (
              logsumexp_weights(self, dim, keepdim, result) * self_t).sum(dim, keepdim),
          vjp={"self": lambda grad, self, dim, keepdim, result: restored(
              grad, self._shape, dim, keepdim) * logsumexp_weights(self, dim, keepdim, result)})
def logsumexp(self, dim, keepdim=False):
    """log(sum(exp(self))) over the dimensions `dim` (int or tuple), without overflow."""
    if dim is None:
        raise TypeError("logsumexp() needs dimensions")
    dtype = settings.default_dtype.numpy if is_number_array(self) else self.dtype
    wide = self.astype(dtype) if is_number_array(self) else widened(self)
    found = silently(logsumexp_of, wide, axis_of(dim, self.ndim), keepdim)
    return dense(found if found.dtype == dtype else found.astype(dtype))


@operator("nansum", fake=fake_sum_dim, spaces=(),
          jvp=lambda self_t, self, dim, keepdim: (self_t * self.isnan().logical_not()).sum(dim, keepdim),
          vjp={"self": lambda grad, self, dim, keepdim: restored(
              grad, self._shape, dim, keepdim).expand(self._shape) * self.isnan().logical_not()})
def nansum(self, dim=None, keepdim=False, *, dtype=None):
    """The sum over `dim` (default: all) with NaN counted as zero."""
    array = self if is_number_array(self) else np.where(np.isnan(self), self.dtype.type(0), self)
    return summed(converted(array, dtype), axis_of(dim, self.ndim), keepdim, total_dtype(array, dtype))


@numpy_names
def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The mean over `dim` (default: all) of the elements that are not NaN."""
    if input.dtype.category != dt.FLOATING:
        raise RuntimeError("nanmean(): expected input to have floating point or complex dtype but got "
                           f"{scalar_type_name(input.dtype)}")
    count = input.detach().isnan().logical_not().sum(dim, keepdim)
    return exports[""]["div"](input.nansum(dim, keepdim, dtype=dtype), count, out=out)


for _name, _function in (("all", all_), ("any", any_)):
    publish(_name, numpy_names(with_out_check(_function, _name, check_truth_out)), ("", "Tensor"))


publish("count_nonzero", numpy_names(count_nonzero), ("", "Tensor"))
publish("logsumexp", numpy_names(logsumexp), ("", "Tensor", "special"))
publish("nansum", with_out_dtype(numpy_names(nansum)), ("", "Tensor"))
publish("nanmean", nanmean, ("", "Tensor"))
