"""From Python data (numbers, nested sequences, arrays, tensors) to one array, by the rules of `torch.tensor`.

    shape   read along the first element of each level; every other element must agree
    dtype   bools < ints (int64) < floats (the default dtype); NumPy scalars and tensors bring their own
"""
import functools
import itertools
import warnings

import numpy as np

from ..autograd.meta import tracks
from ..core import dtype as dt
from ..core import promotion, settings
from ..core.once import warn_once
from ..tensor import Tensor, array_of

_PLAIN = (bool, int, float)
_MAX_DIMS = 128


def array_from_data(data, dtype=None):
    """A fresh array with the values of `data`, in `dtype` or the inferred one.

    TypeError, ValueError or RuntimeError, as PyTorch's, for data that is no rectangle of numbers.
    """
    if isinstance(data, Tensor):
        return np.array(array_of(data), (dtype or data._dtype).numpy)
    if isinstance(data, np.ndarray):
        return array_from_ndarray(data, dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    shape = shape_of_data(data)
    if len(shape) > 1 and isinstance(data[0], np.ndarray):
        warnings.warn("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
                      "the list to a single numpy.ndarray with numpy.array() before converting to a tensor.",
                      UserWarning, stacklevel=3)
    if dtype is None:
        check_are_numbers(data, shape)
    flat = flattened(data, shape)
    return filled_array(flat, dtype or common_dtype(flat)).reshape(shape)


def check_are_numbers(data, shape):
    """Where the dtype is inferred, it is looked for before the shape: RuntimeError for what is neither sequence nor
    number among the rows."""
    for row in data if len(shape) > 1 else ():
        if not is_sequence(row) and not isinstance(row, Tensor):
            dtype_of_element(row)


def array_from_ndarray(data, dtype):
    check_ndarray(data)
    return np.array(data, (dtype or dt.from_numpy(data.dtype)).numpy)


def check_ndarray(array):
    """Refuse arrays that no tensor could look at."""
    if any(s < 0 for s in array.strides):
        raise ValueError("At least one stride in the given numpy array is negative, and tensors with "
                         "negative strides "
                         "are not currently supported. (You can probably work around this by making a copy "
                         "of your array  with array.copy().) ")
    if array.itemsize and any(s % array.itemsize for s in array.strides):
        raise ValueError("given numpy array strides not a multiple of the element byte size. Copy the numpy "
                         "array to reallocate the memory.")
    if not array.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order. Conversion "
                         "between byte orders is currently not supported.")
    if array.dtype in dt.OF_NUMPY:
        return dt.OF_NUMPY[array.dtype]
    names = ", ".join(d.name for d in reversed(dt.ALL))
    raise TypeError("can't convert np.ndarray of type "
                    f"{array.dtype.type.__module__}.{array.dtype.type.__name__}. "
                    f"The only supported types are: {names}.")


# Shape

def is_sequence(value):
    """Whether a level of nesting: it has a length and can be indexed. Dicts and tensors are none."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return True
    if isinstance(value, (Tensor, dict)):
        return False
    return hasattr(value, "__getitem__") and hasattr(value, "__len__") and not isinstance(value, np.generic)


def shape_of_data(data):
    """The sizes, read along the first elements."""
    shape = []
    while is_sequence(data):
        if isinstance(data, (str, bytes)):
            raise unfit_text(data)
        shape.append(len(data))
        if len(shape) > _MAX_DIMS:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not shape[-1]:
            break
        data = data[0]
    return tuple(shape)


def unfit_text(data):
    if isinstance(data, bytes):
        return TypeError("new(): invalid data type 'bytes'")
    return ValueError("too many dimensions 'str'")


def flattened(data, shape):
    """The elements in order; ValueError where a level has another length than its first element."""
    level = [data]
    if 0 in shape:
        return []
    for dim, size in enumerate(shape):
        for part in level:
            check_level(part, size, dim)
        level = list(itertools.chain.from_iterable(level))
    return level


def check_level(part, size, dim):
    if not is_sequence(part):
        raise TypeError("not a sequence")
    if isinstance(part, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(part).__name__}'")
    if len(part) != size:
        raise ValueError(f"expected sequence of length {size} at dim {dim} (got {len(part)})")


# Dtype

def common_dtype(flat):
    """The dtype that holds all elements; the default dtype if there are none."""
    found = None
    for example in {dtype_key(value): value for value in flat}.values():
        own = dtype_of_element(example)
        found = own if found is None else promotion.promote_types(found, own)
    return found or settings.default_dtype


def dtype_key(value):
    """Elements with the same key have the same dtype."""
    return value._dtype if isinstance(value, Tensor) else value.__class__


def dtype_of_element(value):
    if isinstance(value, Tensor):
        return value._dtype
    if isinstance(value, (np.generic, np.ndarray)):
        return dt.from_numpy(value.dtype)
    try:
        return promotion.dtype_of_number(value)
    except TypeError:
        raise not_a_number(value) from None


def not_a_number(value):
    if isinstance(value, (str, bytes)):
        return TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if is_sequence(value):
        return TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    return RuntimeError(f"Could not infer dtype of {type(value).__name__}")


# Values

def filled_array(flat, dtype):
    """A 1-d array of the elements; TypeError for what is no number, ValueError or RuntimeError where an integer does
    not fit the dtype."""
    values = [v if v.__class__ in _PLAIN else number_of(v, dtype) for v in flat]
    if dtype.category != dt.INTEGRAL:
        if dtype is dt.bool:
            return np.array([bool(v) for v in values], np.bool_)
        with np.errstate(over="ignore"):
            return np.array(values, dtype.numpy)
    values = [integer_of(v, dtype) for v in values]
    check_range(values, dtype)
    return np.array(values, np.int64).astype(dtype.numpy)


def integer_of(value, dtype):
    """A number cut to an integer. RuntimeError for a float that no integer of 64 bits is near."""
    if isinstance(value, float) and not -2.0 ** 63 <= value < 2.0 ** 63:
        raise overflow_of_element(dtype)
    return int(value)


def number_of(value, dtype):
    """The Python number of a scalar, of a 0-dim array or of a one-element tensor, and of what knows its own
    (`__float__`, `__index__`)."""
    if isinstance(value, Tensor):
        return only_element(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.item()
    if isinstance(value, (bool, int, float)):
        return value
    if dtype.is_floating_point and hasattr(value, "__float__"):
        return float(value)
    if hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError(f"must be real number, not {type(value).__name__}" if dtype.is_floating_point else
                    f"'{type(value).__name__}' object cannot be interpreted as an integer")


def only_element(t):
    """The number in a one-element tensor."""
    if t.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    if tracks(t):
        warn_once("scalar", "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                            "behavior.\nConsider using tensor.detach() first.")
    return t.item()


def check_range(values, dtype):
    """PyTorch's two errors: beyond 64 bits, and beyond the dtype (negative numbers may wrap in uint8)."""
    if not values:
        return
    low, high = min(values), max(values)
    if low < -2 ** 63 or high >= 2 ** 63:
        raise ValueError("Overflow when unpacking long long")
    limits = np.iinfo(dtype.numpy)
    lowest = -limits.max if dtype is dt.uint8 else limits.min
    if low < lowest or high > limits.max:
        raise overflow_of_element(dtype)


def overflow_of_element(dtype):
    return RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")


_C_NAMES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
            "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double"}


def number_in(dtype, value):
    """A Python number as a NumPy scalar of a dtype. RuntimeError where it is out of the dtype's range."""
    if value.__class__ is float and dtype.category == dt.FLOATING and -60000 < value < 60000 \
            or value.__class__ is int and dtype.category != dt.BOOL and 0 <= value < 128:
        return dtype.numpy.type(value)                     # the usual ones, in the range of every such dtype
    promotion.check_64_bits(value)
    if dtype.category == dt.BOOL:
        return np.bool_(value)
    if dtype.category == dt.INTEGRAL:
        value = integer_in(dtype, value)
        return np.array(value % 2 ** (8 * dtype.itemsize), np.uint64).astype(dtype.numpy)[()]
    if -60000 < value < 60000:                             # in every floating dtype's range
        return dtype.numpy.type(value)
    with np.errstate(over="ignore"):
        number = dtype.numpy.type(value)
    if np.isinf(number) and not np.isinf(np.float64(value)):
        raise overflow(dtype)
    return number


def assigned_number(dtype, value):
    """`number_in` for what is assigned or chosen: too large for 16-bit floats, it is infinite."""
    if dtype in SIXTEEN_BITS:
        with np.errstate(over="ignore"):
            return dtype.numpy.type(value)
    return number_in(dtype, value)


SIXTEEN_BITS = (dt.float16, dt.bfloat16)


def integer_in(dtype, value):
    """The number cut to an int. Whole negative numbers wrap in uint8, those with a point do not."""
    limits = limits_of(dtype)
    wraps = dtype is dt.uint8 and not isinstance(value, (float, np.floating))
    if not (-limits.max if wraps else limits.min) <= value <= limits.max:
        raise overflow(dtype)
    return int(value)


@functools.cache
def limits_of(dtype):
    return np.iinfo(dtype.numpy)


def overflow(dtype):
    return RuntimeError(f"value cannot be converted to type {_C_NAMES[dtype.name]} without overflow")
