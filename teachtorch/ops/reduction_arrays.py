"""Arrays before and after a reduction: dtypes to add up in, and sums in them."""
import numpy as np

from ..core import dtype as dt
from ..kernels import reduce as folds
from ..kernels.pointwise import silently
from .reduction_arguments import dims_of


LOW_PRECISION = (np.dtype(np.float16), dt.bfloat16.numpy)
FLOAT32 = np.dtype(np.float32)
PLAIN = "fd"                    # the characters of float32 and float64, which are summed as they are
add_up = np.add.reduce


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


def quick_size(axis, ndim):
    """Up to how many floats NumPy adds up well by itself: along the last dimension it adds in pairs, along others one row
    after the other."""
    is_in_pairs = axis is None or axis == -1 or axis == ndim - 1 or axis.__class__ is tuple and ndim - 1 in axis
    return folds.SMALL if is_in_pairs else folds.NAIVE


def multiplied(array, axis, keepdim, total):
    """The product with NumPy dtype `total`."""
    if array.size > folds.SMALL and total == array.dtype and total.kind == "f":
        return dense(folds.product(array, dims_of(axis, array.ndim), keepdim))
    return accumulated(np.multiply, array, axis, keepdim, total)


def accumulated(ufunc, array, axis, keepdim, total):
    """`ufunc` over a small array with a result of NumPy dtype `total`, of 16-bit floats in float32."""
    via = FLOAT32 if total in LOW_PRECISION else total
    found = silently(ufunc.reduce, array, axis, via, None, keepdim)
    return dense(found if via is total else found.astype(total))


def is_number_array(array):
    """Whether the elements are bools or integers."""
    return array.dtype.kind in "biu"
