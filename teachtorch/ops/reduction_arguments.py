"""What all reductions share: their dimensions, the shape of what is left, NumPy's names for arguments, and `out`."""
import functools
import math
import numbers

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch.numpy_names import TORCH_NAMES
from .declare import require_tensor_out


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
            kwargs = {TORCH_NAMES.get(name, name): value for name, value in kwargs.items()}
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
            raise RuntimeError(f"Expected out tensor to have dtype {dt.cpp_name(dtype)}, but got "
                               f"{dt.cpp_name(target.dtype)} instead")


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
