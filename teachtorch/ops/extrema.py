"""The largest and smallest elements, where they are, and which of them the gradient goes to.

What PyTorch overloads (`max()`, `max(dim)`, `max(other)`) is an operator each here too; the function that
users call chooses among them. Reductions to a value and reductions along dimensions have different
derivatives, and so different nodes: MaxBackward1 shares the gradient among equal maxima, MaxBackward0 sends
it to the index that was returned.
"""
import numbers

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..dispatch.numpy_names import TORCH_NAMES
from ..dispatch.operator import registry
from ..kernels import reduce as folds
from ..tensor import Tensor
from .declare import BOOL, LINEAR, exports, operator, pointwise, publish, write_out
from .fake import Fake
from .node_names import name_node
from .reduction_arguments import (axis_of, check_extremum_out, check_not_empty, check_out_dtypes, dims_of,
                                  numpy_names, reduced_shape, require_dim, restored, with_out_check)
from .reduction_arrays import dense, widened


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
    """The smallest element; with `dim`, named (values, indices) along it; with a tensor, `minimum` of the two.

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
        key = TORCH_NAMES.get(key, key)
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
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
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


for _function in (amax, amin):
    _name = _function.__name__
    publish(_name, numpy_names(with_out_check(_function, _name, check_extremum_out)), ("", "Tensor"))


for _function in (argmax, argmin):
    publish(_function.__name__, numpy_names(_function, lambda input: (dt.int64,)), ("", "Tensor"))
publish("aminmax", numpy_names(aminmax, lambda input: (input.dtype, input.dtype)), ("", "Tensor"))
