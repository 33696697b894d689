"""The p-norms of vectors, and `norm`, which chooses between norms of vectors and of matrices."""
import math
import numbers

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels import reduce as folds
from ..kernels.pointwise import silently
from .declare import exports, operator, publish
from .extrema import same_value
from .fake import Fake
from .reduction_arguments import axis_of, dims_of, reduced_shape, restored
from .reduction_arrays import converted, dense, widened


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
            raise RuntimeError(start + f"the dimension {d}because this dimension is empty and the operation does not "
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


publish("norm", norm, ("",))


def norm_method(self, p="fro", dim=None, keepdim=False, dtype=None):
    """The vector p-norm of all elements or over `dim`; the strings "fro" and "nuc" are norms of matrices."""
    return norm(self, p, dim, keepdim, dtype=dtype)


norm_method.__name__ = norm_method.__qualname__ = "norm"
publish("norm", norm_method, ("Tensor",))
