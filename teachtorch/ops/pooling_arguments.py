"""What all pools share: the arguments of their windows, their refusals, and the form of their arrays.

PyTorch's one-dimensional pools are two-dimensional ones of height 1, and so are these.
"""
import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels.pooling import Window
from .arguments import require_bool
from .declare import publish

COUNTED = {1: "one int", 2: "two ints", 3: "three ints"}
LETTERS = {2: ("H", "W"), 3: ("T", "H", "W")}


# ---- arguments

def as_ints(value, function, argument, position):
    """An int or a sequence of ints, as a tuple. TypeError for anything else."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if all([isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values]):
        return values
    raise TypeError(
        f"{function}(): argument '{argument}' (position {position}) must be tuple of ints, not "
        f"{type(value).__name__}"
    )


def sized(values, count, function, argument, omitted=""):
    """One int per dimension. RuntimeError for another number of them."""
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise RuntimeError(
            f"{function}: {argument} must either be {omitted}a single int, or a tuple of {COUNTED[count]}"
        )
    return values


def one_int(value, name, argument):
    """The int of an argument of a one-dimensional pool. RuntimeError for several."""
    values = as_ints(value, name, argument, 2)
    if len(values) != 1:
        raise RuntimeError(f"{name}() argument '{argument}' should contain one int (got {len(values)})")
    return values[0]


def window_of(function, count, kernel_size, stride, padding, dilation=1, ceil_mode=False):
    """The Window of a pool's arguments."""
    require_bool(ceil_mode, function, "ceil_mode", 6)
    kernel = sized(as_ints(kernel_size, function, "kernel_size", 2), count, function, "kernel_size")
    stride = () if stride is None else as_ints(stride, function, "stride", 3)
    stride = sized(stride, count, function, "stride", "omitted, ") if stride else kernel
    padding = sized(as_ints(padding, function, "padding", 4), count, function, "padding")
    dilation = sized(as_ints(dilation, function, "dilation", 5), count, function, "dilation")
    return Window(kernel, stride, padding, dilation, ceil_mode)


def per_axis(prefix, values):
    return " ".join(f"{prefix}{letter}: {value}" for letter, value in zip(LETTERS[len(values)], values))


def check_window(window):
    """PyTorch's refusals (aten/src/ATen/native/Pool.h, pool2d_shape_check)."""
    if 0 in window.stride:
        raise RuntimeError("stride should not be zero")
    for k, p, d in zip(window.kernel, window.padding, window.dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if k > 0 and d > 0 and p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} "
                f"and dilation={d}"
            )
    for values, name, short in (
        (window.kernel, "kernel size", "k"),
        (window.stride, "stride", "d"),
        (window.dilation, "dilation", "dilation"),
    ):
        if min(values) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got {per_axis(short, values)}")


def pooled_shape(shape, window, count, rank_first=False):
    """The result's shape. RuntimeError where the window does not fit; `rank_first`: what is refused first."""
    if rank_first:
        check_rank(shape, count)
    check_window(window)
    check_rank(shape, count)
    if 0 in shape[-count - 1 :]:
        raise RuntimeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with optional 0 dim batch size "
            f"for input, but got:{list(shape)}"
        )
    places = window.places(shape[-count:])
    if min(places) < 1:
        given, found = ("x".join(map(str, (shape[-count - 1], *space))) for space in (shape[-count:], places))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small"
        )
    return tuple(shape[:-count]) + places


def check_rank(shape, count):
    if len(shape) not in (count + 1, count + 2):
        raise RuntimeError(f"non-empty {count + 1}D or {count + 2}D (batch mode) tensor expected for input")


def check_line_rank(input, name):
    if len(input._shape) not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {len(input._shape)}-dimensional tensor for argument "
            f"#1 'self' (while checking arguments for {name})"
        )


def check_not_empty(name, shape, count):
    for dim in range(max(len(shape) - count, 0), len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
                f"sizes {list(shape)} with dimension {dim} being empty"
            )


def refuse_dtype(dtype, kernel, takes_integers):
    """NotImplementedError in PyTorch's words, naming its kernel, for a dtype that is no floating one."""
    if dtype.is_floating_point or takes_integers and dtype is not dt.bool:
        return
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(dtype)}'")


# ---- arrays

def planes(array, count):
    """The array with all dimensions before space as one."""
    return array.reshape(math.prod(array.shape[:-count]), *array.shape[-count:])


def gathered(values, indices, count):
    """From each plane of `values` the elements at the plane's indices."""
    flat, places = values.flatten(-count), indices.flatten(-count)
    return flat.gather(-1, places).view(indices._shape)


def spell(function, name, doc, spaces):
    """Publish a function under a name, with its docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    publish(name, function, spaces)
