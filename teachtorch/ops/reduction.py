"""Reductions over some or all dimensions.

What PyTorch overloads (`max()`, `max(dim)`, `max(other)`) is an operator each here too; the function that
users call chooses among them. Reductions to a value and reductions along dimensions have different
derivatives, and so different nodes: MaxBackward1 shares the gradient among equal maxima, MaxBackward0 sends
it to the index that was returned.
"""
import functools
import math
import numbers

import numpy as np

from ..core import dtype as dt
from ..core import geometry, settings
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..kernels import reduce as folds
from ..kernels.pointwise import silently
from ..tensor import Tensor
from .declare import BOOL, LINEAR, exports, operator, pointwise, publish, require_tensor_out, write_out
from .fake import Fake

LOW_PRECISION = (np.dtype(np.float16), dt.bfloat16.numpy)
FLOAT32 = np.dtype(np.float32)
PLAIN = "fd"                    # the characters of float32 and float64, which are summed as they are
add_up = np.add.reduce
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


# ---- dimensions

def dims_of(dim, ndim):
    """The dimensions to reduce, counted from the front: all if `dim` is None or empty."""
    if dim is None or names_none(dim):
        return tuple(range(ndim))
    return geometry.wrap_dims(as_ints(dim) if isinstance(dim, (tuple, list)) else (dim,), ndim)


def names_none(dim):
    """Whether `dim` is an empty tuple or list."""
    return isinstance(dim, (tuple, list)) and not dim


def as_ints(dims):
    """A tuple of ints. TypeError for anything else."""
    if not isinstance(dims, (tuple, list)) or not all([isinstance(d, numbers.Integral) for d in dims]):
        raise TypeError(f"argument 'dim' must be tuple of ints, not {dims!r}")
    return tuple(dims)


def axis_of(dim, ndim):
    """`dim` as NumPy's axis; NumPy itself wraps a negative int and refuses one that is out of range."""
    if dim.__class__ is int:
        return dim
    dims = dims_of(dim, ndim)
    return None if len(dims) == ndim or not ndim else dims


def reduced_shape(shape, dims, keepdim):
    """The shape that is left after reducing `dims`."""
    if keepdim:
        return tuple([1 if i in dims else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in dims])


def reduced_count(shape, dim):
    """How many elements each element of the result is made of."""
    return math.prod([shape[i] for i in dims_of(dim, len(shape)) if shape])


def restored(grad, shape, dim, keepdim):
    """A reduction's gradient with the reduced dimensions back as size 1, to broadcast against the input."""
    if keepdim or not shape:
        return grad
    return grad.reshape(reduced_shape(shape, dims_of(dim, len(shape)), True))


def require_dim(dim, name, position=1):
    """PyTorch's TypeError where `dim` must be one int."""
    if not isinstance(dim, numbers.Integral):
        raise TypeError(f"{name}(): argument 'dim' (position {position}) must be int, not "
                        f"{type(dim).__name__}")


def check_not_empty(name, shape, dim):
    """Maxima and the like of no elements do not exist. IndexError naming the dimension."""
    for d in dims_of(dim, len(shape)):
        if shape and shape[d] == 0:
            raise IndexError(f"{name}: Expected reduction dim {d} to have non-zero size.")


def numpy_names(function, out_dtypes=None):
    """Let a function take NumPy's names for its arguments too, as PyTorch does: axis, keepdims, x, x2.

    `out_dtypes`: from the input to the dtypes that `out` must have, where PyTorch converts nothing.
    """
    @functools.wraps(function)
    def accepting(*args, **kwargs):
        if kwargs:
            kwargs = {NUMPY_NAMES.get(name, name): value for name, value in kwargs.items()}
            if out_dtypes is not None and kwargs.get("out") is not None:
                check_out_dtypes(function.__name__, kwargs["out"],
                                 *out_dtypes(args[0] if args else kwargs["input"]))
        return function(*args, **kwargs)
    return accepting


def check_out_dtypes(name, out, *dtypes):
    """RuntimeError where `out` (a tensor, or one per result) has not the result's dtype."""
    if len(dtypes) == 1:
        require_tensor_out(name, out)
    for target, dtype in zip(out if isinstance(out, (tuple, list)) else (out,), dtypes):
        if target.dtype is not dtype:
            raise RuntimeError(f"Expected out tensor to have dtype {dt.CPP_NAMES[dtype.name]}, but got "
                               f"{dt.CPP_NAMES[target.dtype.name]} instead")


def with_out_dtype(function):
    """The function, which computes in the dtype of `out` if there is one and no other is asked for."""
    @functools.wraps(function)
    def computing(*args, dtype=None, out=None, **kwargs):
        if out is None:
            return function(*args, dtype=dtype, **kwargs)
        require_tensor_out(function.__name__, out)
        return function(*args, dtype=dtype or out.dtype, out=out, **kwargs)
    return computing


def own_dtype(input):
    return (input.dtype,)


def own_and_index_dtype(input):
    return input.dtype, dt.int64


def check_extremum_out(name, input, out):
    """amax and amin."""
    require_tensor_out(name, out)
    if out.dtype is not input.dtype:
        raise RuntimeError("Expected the dtype for input and out to match, but got "
                           f"{scalar_type_name(input.dtype)} for input's dtype and "
                           f"{scalar_type_name(out.dtype)} for "
                           "out's dtype.")


def check_truth_out(name, input, out):
    """all and any."""
    require_tensor_out(name, out)
    if out.dtype not in (dt.bool, dt.uint8):
        raise RuntimeError(f"{name} only supports bool tensor for result, got: {scalar_type_name(out.dtype)}")


def with_out_check(function, name, check):
    """The function, which refuses an `out` of a wrong dtype in words of its own."""
    @functools.wraps(function)
    def checked(input, *args, out=None, **kwargs):
        if out is not None:
            check(name, input, out)
        return function(input, *args, out=out, **kwargs)
    return checked


def name_node(operator_name, node_name):
    """Give an overload's backward node the name that PyTorch gives it."""
    registry[operator_name].info.derivatives.node_class.__name__ = node_name


# ---- arrays

def converted(array, dtype):
    """The array in the dtype that was asked for (None: as it is)."""
    return array if dtype is None or array.dtype == dtype.numpy else array.astype(dtype.numpy)


def widened(array):
    """float16 and bfloat16 as float32, in which sums and exponentials of them are computed."""
    return array.astype(FLOAT32) if array.dtype in LOW_PRECISION else array


def dense(array):
    """A reduction's result is contiguous, whatever NumPy made of a transposed input."""
    if array.ndim < 2 or array.flags.c_contiguous:
        return array
    return np.ascontiguousarray(array)


def summed(array, axis, keepdim, total):
    """The sum with NumPy dtype `total`."""
    if array.size > folds.NAIVE:
        return dense(folds.sum(array, dims_of(axis, array.ndim), keepdim, total))
    return accumulated(np.add, array, axis, keepdim, total)


def accumulated(ufunc, array, axis, keepdim, total):
    """`ufunc` over a small array with a result of NumPy dtype `total`, of 16-bit floats in float32."""
    via = FLOAT32 if total in LOW_PRECISION else total
    found = silently(ufunc.reduce, array, axis, via, None, keepdim)
    return dense(found if via is total else found.astype(total))


def is_number_array(array):
    """Whether the elements are bools or integers."""
    return array.dtype.kind in "biu"


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
    if dtype is None and self.dtype.char in PLAIN and self.size <= folds.NAIVE:
        return silently(add_up, self, None)
    return summed(converted(self, dtype), None, False, total_dtype(self, dtype))


@operator("sum_dim", jvp=LINEAR, fake=fake_sum_dim, spaces=(), vjp={
    "self": lambda grad, self_shape, dim, keepdim: restored(
        grad, self_shape, dim, keepdim).expand(self_shape)})
def sum_dim(self, dim=None, keepdim=False, *, dtype=None):
    """The sums over the dimensions `dim` (int or tuple)."""
    axis = axis_of(dim, self.ndim)
    if dtype is None and self.dtype.char in PLAIN and self.size <= folds.NAIVE:
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
        raise RuntimeError("mean(): could not infer output dtype. Optional dtype must be either a floating "
                           "point or "
                           f"complex dtype. Got: {scalar_type_name(dtype)}")
    if dtype is None and self._dtype.category != dt.FLOATING:
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating "
                           "point or "
                           f"complex dtype. Got: {scalar_type_name(self._dtype)}")


def fake_mean(self, dtype=None):
    check_mean_dtype(self, dtype)
    return Fake((), dtype or self._dtype)


def fake_mean_dim(self, dim=None, keepdim=False, dtype=None):
    check_mean_dtype(self, dtype)
    return Fake(reduced_shape(self._shape, dims_of(dim, len(self._shape)), keepdim), dtype or self._dtype)


def mean_of(array, axis, keepdim, count, dtype):
    """The sum divided by the count; of no elements NaN. 16-bit floats are rounded once, at the end."""
    if dtype is None and array.dtype.char in PLAIN and array.size <= folds.NAIVE:
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
    "self": lambda grad, self_shape: (grad / math.prod(self_shape)).expand(self_shape)}, arrays={
    "self": lambda grad, self_shape: spread(grad / grad.dtype.type(math.prod(self_shape)), self_shape)})
def mean_all(self, *, dtype=None):
    """The mean of all elements."""
    return mean_of(self, None, False, self.size, dtype)


@operator("mean_dim", jvp=LINEAR, fake=fake_mean_dim, spaces=(), vjp={
    "self": lambda grad, self_shape, dim, keepdim: restored(
        grad / reduced_count(self_shape, dim), self_shape, dim, keepdim).expand(self_shape)})
def mean_dim(self, dim=None, keepdim=False, *, dtype=None):
    """The means over the dimensions `dim` (int or tuple)."""
    return mean_of(self, axis_of(dim, self.ndim), keepdim, reduced_count(self.shape, dim), dtype)


def mean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """The mean of all elements, or over the dimensions `dim` (int or tuple). RuntimeError for integers and
    bools, unless a floating `dtype` is given to convert them to."""
    dim, keepdim = (axis if dim is None else dim), keepdim or keepdims
    if out is not None:
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
    return accumulated(np.multiply, converted(self, dtype), None, False, total_dtype(self, dtype))


@operator("prod_dim", jvp=prod_dim_tangent, fake=fake_prod_dim, spaces=(), vjp={"self": prod_dim_gradient})
def prod_dim(self, dim, keepdim=False, *, dtype=None):
    """The products along one dimension."""
    require_dim(dim, "prod")
    return accumulated(np.multiply, converted(self, dtype), dim, keepdim, total_dtype(self, dtype))


@numpy_names
def prod(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The product of all elements, or along one dimension; integers are multiplied as int64."""
    dtype = out.dtype if dtype is None and out is not None else dtype
    name, args = ("prod", (input, dtype)) if dim is None else ("prod_dim", (input, dim, keepdim, dtype))
    return registry[name].call(*args) if out is None else write_out(registry[name], out, args)


name_node("prod_dim", "ProdBackward1")
publish("prod", prod, ("", "Tensor"))


# ---- gradients of what selects elements

@pointwise("_same_value", kind=BOOL, numpy=lambda x, y: (x == y) | ((x != x) & (y != y)), inplace=False,
           spaces=())
def same_value(self, other):
    """Whether two elements are equal, or both NaN."""
    return self == other or (self != self and other != other)


def share_evenly(grad, self, result):
    """The gradient of a full reduction to one of the elements: equal ones share it."""
    mask = same_value(self, result)
    return registry["where"](mask, grad / mask.sum(), 0.0)


def share_evenly_tangent(self_t, self, result):
    mask = same_value(self, result)
    return (mask * self_t).sum() / mask.sum()


def share_by_count(grad, self, result, dim, keepdim):
    """The same along dimensions. Where the result is NaN, no element equals it: 0 / 0."""
    dim = dims_of(dim, len(self._shape))
    mask = self == restored(result, self._shape, dim, keepdim)
    return restored(grad, self._shape, dim, keepdim) * mask / mask.sum(dim, True)


def share_by_count_tangent(self_t, self, result, dim, keepdim):
    dim = dims_of(dim, len(self._shape))
    mask = self == restored(result, self._shape, dim, keepdim)
    return (self_t * mask).sum(dim, keepdim) / mask.sum(dim, keepdim)


def fake_scattered(grad, dim, indices, shape):
    return Fake(shape, grad._dtype)


@operator("value_selecting_reduction_backward", jvp=LINEAR, fake=fake_scattered, out=False, spaces=(), vjp={
    "grad_output": lambda grad, dim, indices: grad.gather(dim, indices)})
def put_back(grad_output, dim, indices, shape):
    """Zeros of the input's shape with the gradient at the indices that were selected along `dim`."""
    result = np.zeros(shape, grad_output.dtype)
    if shape:
        np.put_along_axis(result, indices, grad_output, dim)
    else:
        result[...] = grad_output.reshape(())
    return result


def select_gradient(grads, self_shape, dim, keepdim, indices):
    """The gradient of a reduction that returned (values, indices)."""
    if not keepdim and self_shape:
        indices = indices.unsqueeze(dim)
        return put_back(grads[0].unsqueeze(dim), dim, indices, self_shape)
    return put_back(grads[0], dim, indices, self_shape)


def select_tangent(self_t, dim, keepdim, indices):
    """The tangents of (values, indices): the input's tangent at the indices."""
    if keepdim or not self_t._shape:
        return self_t.gather(dim, indices), None
    return self_t.gather(dim, indices.unsqueeze(dim)).squeeze(dim), None


# ---- max, min and relatives

def fake_extremum(name):
    """The fake rule of max() and min()."""
    def fake(self):
        if 0 in self._shape:
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                               "Specify the reduction dim with the 'dim' argument.")
        return Fake((), self._dtype)
    return fake


def fake_values_and_indices(name):
    """The fake rule of reductions along one dimension to named (values, indices)."""
    def fake(self, dim=-1, keepdim=False):
        require_dim(dim, name)
        shape = reduced_shape(self._shape, dims_of(dim, len(self._shape)), keepdim)
        check_not_empty(f"{name}()", self._shape, dim)
        return Fake(shape, self._dtype), Fake(shape, dt.int64)
    return fake


def extremum(ufunc, array, axis, keepdim):
    """The maximum or minimum over axes; NaN if one is NaN."""
    if array.size > folds.SMALL:
        fold = folds.amax if ufunc is np.maximum else folds.amin
        return dense(fold(array, dims_of(axis, array.ndim), keepdim))
    return np.asarray(dense(ufunc.reduce(array, axis, None, None, keepdim)))


def extremum_along(ufunc, find, array, dim, keepdim):
    """(values, indices) along one dimension: the first of equal ones; NaN counts as the extremum."""
    require_dim(dim, ufunc.__name__)
    return extremum(ufunc, array, dim, keepdim), position_along(find, array, dim, keepdim)


def position_along(find, array, dim, keepdim):
    """The index of the extremum along `dim`, or of the flattened array."""
    array = widened(array)
    if array.size > folds.SMALL and dim is not None:
        fold = folds.argmax if find is np.ndarray.argmax else folds.argmin
        return dense(fold(array, geometry.wrap_dim(dim, array.ndim), keepdim))
    return np.asarray(find(array, dim, None, keepdims=keepdim))


VALUES_AND_INDICES = ("values", "indices")


@operator("max", jvp=share_evenly_tangent, fake=fake_extremum("max"), spaces=(), vjp={"self": share_evenly})
def max_all(self):
    """The largest element."""
    return extremum(np.maximum, self, None, False)


@operator("min", jvp=share_evenly_tangent, fake=fake_extremum("min"), spaces=(), vjp={"self": share_evenly})
def min_all(self):
    """The smallest element."""
    return extremum(np.minimum, self, None, False)


@operator("max_dim", jvp=select_tangent, fake=fake_values_and_indices("max"), outputs=VALUES_AND_INDICES,
          spaces=(),
          vjp={"self": select_gradient})
def max_dim(self, dim, keepdim=False):
    """The largest elements along one dimension, and where they are."""
    return extremum_along(np.maximum, np.ndarray.argmax, self, dim, keepdim)


@operator("min_dim", jvp=select_tangent, fake=fake_values_and_indices("min"), outputs=VALUES_AND_INDICES,
          spaces=(),
          vjp={"self": select_gradient})
def min_dim(self, dim, keepdim=False):
    """The smallest elements along one dimension, and where they are."""
    return extremum_along(np.minimum, np.ndarray.argmin, self, dim, keepdim)


def max_(input, dim=None, keepdim=False, *, other=None, out=None, **numpy_spelt):
    """The largest element; with `dim`, named (values, indices) along it; with a tensor, `maximum` of the two.

    Equal maxima share the gradient of the full reduction; along `dim` it goes to the index that was returned.
    """
    if numpy_spelt:
        return max_(input, **torch_spelt("max", dim=dim, keepdim=keepdim, other=other, out=out,
                                         **numpy_spelt))
    if dim is None and other is None and out is None:
        return _max(input)
    return extremum_overload("max", _max_dim, "maximum", input, dim, keepdim, other, out)


def min_(input, dim=None, keepdim=False, *, other=None, out=None, **numpy_spelt):
    """The smallest element; with `dim`, named (values, indices) along it; with a tensor, `minimum` of the
    two.

    Equal minima share the gradient of the full reduction; along `dim` it goes to the index that was returned.
    """
    if numpy_spelt:
        return min_(input, **torch_spelt("min", dim=dim, keepdim=keepdim, other=other, out=out,
                                         **numpy_spelt))
    if dim is None and other is None and out is None:
        return _min(input)
    return extremum_overload("min", _min_dim, "minimum", input, dim, keepdim, other, out)


def extremum_overload(name, along, elementwise, input, dim, keepdim, other, out):
    """max and min: which of the three operators the arguments mean."""
    if dim is None and other is None:
        return write_out(registry[name], out, (input,))
    if isinstance(dim, Tensor) or other is not None:
        return exports[""][elementwise](input, dim if other is None else other, out=out)
    if out is None:
        return along(input, dim, keepdim)
    check_out_dtypes(name, out, input.dtype, dt.int64)
    return write_out(registry[name + "_dim"], out, (input, dim, keepdim))


def torch_spelt(name, **arguments):
    """The arguments by PyTorch's names. TypeError for a name that is neither library's."""
    found = {}
    for key, value in arguments.items():
        key = NUMPY_NAMES.get(key, key)
        if key not in ("dim", "keepdim", "other", "out"):
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if value is not None or key not in found:
            found[key] = value
    return found


_max, _max_dim = registry["max"].call, registry["max_dim"].call
_min, _min_dim = registry["min"].call, registry["min_dim"].call
for _operator, _node in (("max", "MaxBackward1"), ("max_dim", "MaxBackward0"),
                         ("min", "MinBackward1"), ("min_dim", "MinBackward0")):
    name_node(_operator, _node)
publish("max", max_, ("", "Tensor"))
publish("min", min_, ("", "Tensor"))


def fake_extrema(name):
    """The fake rule of amax and amin."""
    def fake(self, dim=(), keepdim=False):
        dims = dims_of(dim, len(self._shape))
        if 0 in self._shape and dim in ((), [], None):
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                               "Specify the reduction dim with the 'dim' argument.")
        check_not_empty(f"{name}()", self._shape, dims)
        return Fake(reduced_shape(self._shape, dims, keepdim), self._dtype)
    return fake


@operator("amax", jvp=share_by_count_tangent, fake=fake_extrema("amax"), vjp={"self": share_by_count},
          spaces=())
def amax(self, dim=(), keepdim=False):
    """The largest elements over the dimensions `dim` (default: all); equal ones share the gradient."""
    return extremum(np.maximum, self, axis_of(dim, self.ndim), keepdim)


@operator("amin", jvp=share_by_count_tangent, fake=fake_extrema("amin"), vjp={"self": share_by_count},
          spaces=())
def amin(self, dim=(), keepdim=False):
    """The smallest elements over the dimensions `dim` (default: all); equal ones share the gradient."""
    return extremum(np.minimum, self, axis_of(dim, self.ndim), keepdim)


def aminmax_gradient(grads, self, dim, keepdim, min, max):
    parts = [share_by_count(grad, self, result, dim, keepdim)
             for grad, result in zip(grads, (min, max)) if grad is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def aminmax_tangent(self_t, self, dim, keepdim, min, max):
    return tuple([share_by_count_tangent(self_t, self, result, dim, keepdim) for result in (min, max)])


def fake_aminmax(self, dim=None, keepdim=False):
    if dim is None and 0 in self._shape:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                           "no "
                           "identity.")
    if dim is not None:
        require_dim(dim, "aminmax")
        check_not_empty("aminmax", self._shape, dim)
    shape = reduced_shape(self._shape, dims_of(dim, len(self._shape)), keepdim)
    return Fake(shape, self._dtype), Fake(shape, self._dtype)


@operator("aminmax", jvp=aminmax_tangent, fake=fake_aminmax, outputs=("min", "max"), spaces=(),
          vjp={"self": aminmax_gradient})
def aminmax(self, *, dim=None, keepdim=False):
    """The smallest and the largest elements, of all or along one dimension, as named (min, max)."""
    if dim is not None:
        require_dim(dim, "aminmax")
    return extremum(np.minimum, self, dim, keepdim), extremum(np.maximum, self, dim, keepdim)


def fake_arg(name):
    """The fake rule of argmax and argmin."""
    def fake(self, dim=None, keepdim=False):
        if dim is not None:
            require_dim(dim, name)
        dims = dims_of(dim, len(self._shape))
        if dim is None and 0 in self._shape:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        check_not_empty(f"{name}()", self._shape, dim)
        if self._dtype is dt.bool:
            raise RuntimeError(f"{name}(): does not support bool input")
        return Fake(reduced_shape(self._shape, dims, keepdim), dt.int64)
    return fake


def position_of(find, array, dim, keepdim):
    """Where the extremum is: along `dim`, or in the flattened array."""
    if array.dtype == np.bool_ or dim is not None and not isinstance(dim, numbers.Integral):
        raise TypeError("an index needs numbers and one dimension")
    return position_along(find, array, dim, keepdim)


@operator("argmax", fake=fake_arg("argmax"), spaces=())
def argmax(self, dim=None, keepdim=False):
    """The index of the first largest element, of the flattened tensor or along one dimension."""
    return position_of(np.ndarray.argmax, self, dim, keepdim)


@operator("argmin", fake=fake_arg("argmin"), spaces=())
def argmin(self, dim=None, keepdim=False):
    """The index of the first smallest element, of the flattened tensor or along one dimension."""
    return position_of(np.ndarray.argmin, self, dim, keepdim)


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
    """exp(self - result), the softmax; NaN where the result is infinite."""
    return (self - restored(result, self._shape, dim, keepdim)).exp()


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


# ---- norms

def check_norm_has_identity(shape, order, dim):
    """Norms of no elements exist for orders from 0 up, but not the maximum norm."""
    if 0 not in shape or 0 <= order < math.inf:
        return
    start = f"linalg.vector_norm cannot compute the {norm_order_text(order)} norm on "
    dims = dims_of(dim, len(shape))
    if len(dims) == len(shape) and (dim is None or len(dims) > 1):
        raise RuntimeError(start + "an empty tensor because the operation does not have an identity")
    for d in dims:
        if shape[d] == 0:
            raise RuntimeError(start + f"the dimension {d}because this dimension is empty and the operation "
                                       f"does not "
                               "have an identity")


def norm_order_text(order):
    return f"{order:g}"


def fake_vector_norm(self, ord=2, dim=None, keepdim=False, dtype=None):
    if not isinstance(ord, numbers.Number):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not "
                        f"{type(ord).__name__}")
    check_norm_dtypes(self._dtype, dtype)
    dims = dims_of(dim, len(self._shape))
    check_norm_has_identity(self._shape, ord, dim)
    return Fake(reduced_shape(self._shape, dims, keepdim), dtype or self._dtype)


def check_norm_dtypes(own, dtype):
    if own.category != dt.FLOATING:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_type_name(own)}")
    if dtype is None or dtype is own:
        return
    if dtype.category != dt.FLOATING:
        raise RuntimeError("linalg.vector_norm: dtype should be floating point or complex, but got "
                           f"{scalar_type_name(dtype)}")
    if np.promote_types(own.numpy, dtype.numpy) != dtype.numpy:
        raise RuntimeError(f"linalg.vector_norm: the dtype of the input ({scalar_type_name(own)}) should be "
                           f"convertible without narrowing to the specified dtype "
                           f"({scalar_type_name(dtype)})")


def norm_gradient(grad, self, ord, dim, keepdim, dtype, result):
    """The gradient of the p-norm: 0 is chosen where the norm is 0; the 0-norm has none."""
    dims = dims_of(dim, len(self._shape))
    grad, norm = restored(grad, self._shape, dims, keepdim), restored(result, self._shape, dims, keepdim)
    if dtype is not None and dtype is not self._dtype:
        self = self.to(dtype)
    if ord == 0:
        return None
    if ord == 1:
        return self.sgn() * grad
    if ord == 2:
        return grad * (self / norm).masked_fill(norm == 0, 0)
    if math.isinf(ord):
        return extreme_norm_gradient(grad, self, norm, dims)
    return general_norm_gradient(grad, self, norm, ord)


def extreme_norm_gradient(grad, self, norm, dims):
    """All elements of extreme magnitude share the gradient, each with its sign."""
    mask = same_value(self.abs(), norm)
    return self.sgn() * (grad * mask / mask.sum(dims, True))


def general_norm_gradient(grad, self, norm, order):
    if order < 1:
        slopes = self.sgn() * self.abs().pow(order - 1).masked_fill(self == 0, 0)
        return slopes * (grad * norm.pow(1 - order))
    if order < 2:
        return self.sgn() * self.abs().pow(order - 1) * (grad * norm.pow(1 - order)).masked_fill(norm == 0, 0)
    return self * self.abs().pow(order - 2) * (grad / norm.pow(order - 1)).masked_fill(norm == 0, 0)


def norm_tangent(self_t, self, ord, dim, keepdim, dtype, result):
    slopes = norm_gradient(result.new_ones(result._shape), self, ord, dim, keepdim, dtype, result)
    return None if slopes is None else (slopes * self_t).sum(dim, keepdim)


def norm_of(array, order, axis, keepdim):
    if order == math.inf:
        return np.maximum.reduce(np.abs(array), axis, None, None, keepdim)
    if order == -math.inf:
        return np.minimum.reduce(np.abs(array), axis, None, None, keepdim)
    if order == 0:
        return np.add.reduce((array != 0).astype(array.dtype), axis, None, None, keepdim)
    if order == 1:
        return np.add.reduce(np.abs(array), axis, None, None, keepdim)
    if order == 2:
        if array.dtype.char in "fd":
            return dense(folds.norm(array, dims_of(axis, array.ndim) if array.ndim else (), keepdim))
        return np.sqrt(np.add.reduce(array * array, axis, None, None, keepdim))
    return np.add.reduce(np.abs(array) ** order, axis, None, None, keepdim) ** (1 / order)


@operator("linalg.vector_norm", jvp=norm_tangent, fake=fake_vector_norm, spaces=("linalg",),
          vjp={"self": norm_gradient})
def vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The p-norm of all elements as one vector, or over `dim`; `ord`: any number, or +-inf."""
    own = dt.from_numpy(self.dtype)
    check_norm_dtypes(own, dtype)
    check_norm_has_identity(self.shape, ord, dim)
    total = (dtype or own).numpy
    wide = widened(converted(self, dtype))
    found = silently(norm_of, wide, ord, axis_of(dim, self.ndim), keepdim)
    return dense(found if found.dtype == total else found.astype(total))


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The vector p-norm of all elements or over `dim`; the strings "fro" and "nuc" are norms of matrices."""
    dims = [dim] if isinstance(dim, int) else dim
    is_frobenius = p == "fro" and (dims is None or len(dims) <= 2)
    if not isinstance(p, str) or is_frobenius:
        order = 2.0 if p is None or is_frobenius else p
        return exports["linalg"]["vector_norm"](input, order, dims, keepdim, dtype=dtype, out=out)
    dims = list(range(input.dim())) if dims is None else dims
    return exports["linalg"]["matrix_norm"](input, p, dims, keepdim, dtype=dtype, out=out)


# ---- publishing

for _function in (amax, amin):
    _name = _function.__name__
    publish(_name, numpy_names(with_out_check(_function, _name, check_extremum_out)), ("", "Tensor"))
for _name, _function in (("all", all_), ("any", any_)):
    publish(_name, numpy_names(with_out_check(_function, _name, check_truth_out)), ("", "Tensor"))
for _function in (argmax, argmin):
    publish(_function.__name__, numpy_names(_function, lambda input: (dt.int64,)), ("", "Tensor"))
publish("aminmax", numpy_names(aminmax, lambda input: (input.dtype, input.dtype)), ("", "Tensor"))
publish("count_nonzero", numpy_names(count_nonzero), ("", "Tensor"))
publish("logsumexp", numpy_names(logsumexp), ("", "Tensor", "special"))
publish("nansum", with_out_dtype(numpy_names(nansum)), ("", "Tensor"))
publish("nanmean", nanmean, ("", "Tensor"))
publish("norm", norm, ("",))


def norm_method(self, p="fro", dim=None, keepdim=False, dtype=None):
    """The vector p-norm of all elements or over `dim`; the strings "fro" and "nuc" are norms of matrices."""
    return norm(self, p, dim, keepdim, dtype=dtype)


norm_method.__name__ = norm_method.__qualname__ = "norm"
publish("norm", norm_method, ("Tensor",))
