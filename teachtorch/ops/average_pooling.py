"""The means of windows, and power averages, which are made of them."""
import math

import numpy as np

from ..core import dtype as dt
from ..kernels import pooling as kernels
from .declare import LINEAR, exports, operator
from .fake import Fake
from .node_names import capital_dimensions
from .pooling_arguments import (as_ints, check_line_rank, one_int, planes, pooled_shape, refuse_dtype,
                                spell, window_of)
from .reduction_arrays import widened

AVERAGE_DOC = (
    "The mean of each window over {} dimensions of a batch or one sample. `count_include_pad`: whether the "
    "zeros of the padding count; `ceil_mode`: also windows that hang over."
)


def average_window(count, shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """(the Window, the result's shape) of the settings of an average pool."""
    window = window_of(f"avg_pool{count}d", count, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    if count == 2 and len(shape) < 3:
        raise IndexError(f"Dimension out of range (expected to be in range of [-{len(shape)}, {len(shape) - 1}], "
                         "but got -3)")
    return window, pooled_shape(shape, window, count, rank_first=count == 3)


def averages(array, count, *settings):
    """The array of the means of its windows."""
    window, shape = average_window(count, array.shape, *settings)
    refuse_average_dtype(dt.from_numpy(array.dtype), count)
    sizes = divisors(window, array.shape[-count:], shape[-count:], *settings[-2:])
    sums = kernels.sum_windows(planes(widened(array), count), window, shape[-count:])
    return divided(sums, sizes, array.dtype).reshape(shape)


def shares_of_averages(grad, like, count, *settings):
    """The array of the gradient of `like`: each mean's gradient, divided among the elements of its window."""
    window, shape = average_window(count, like.shape, *settings)
    sizes = divisors(window, like.shape[-count:], shape[-count:], *settings[-2:])
    shares = planes(widened(grad), count)
    found = kernels.spread_windows(shares / sizes.astype(shares.dtype), window, like.shape[-count:])
    return found.reshape(like.shape).astype(grad.dtype, copy=False)


def refuse_average_dtype(dtype, count):
    refuse_dtype(dtype, f"avg_pool{count}d_out_frame", dtype is dt.int64)


def divisors(window, space, counts, count_include_pad, divisor_override):
    """What each window's sum is divided by: a number, or an array of `counts`."""
    if divisor_override is not None:
        return np.asarray(divisor_override)
    return kernels.window_sizes(window, space, counts, count_include_pad)


def divided(sums, sizes, dtype):
    """The means in a NumPy dtype; those of integers are cut, as C divides."""
    if dtype.kind == "i":
        return np.trunc(sums / sizes).astype(dtype)
    return (sums / sizes.astype(sums.dtype)).astype(dtype, copy=False)


def declare_avg_pool(count):
    """Declare avg_pool{count}d and its backward; return the operator's function."""
    name = f"avg_pool{count}d"

    def fake(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
             divisor_override=None):
        settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        _, shape = average_window(count, self._shape, *settings)
        refuse_average_dtype(self._dtype, count)
        return Fake(shape, self._dtype)

    def forward(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                divisor_override=None):
        return averages(self, count, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    def gradient(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return back(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    forward.__doc__ = AVERAGE_DOC.format(count)
    format_of = ("self",) if count == 2 else ()
    pool = operator(name, spaces=("nn.functional",), out=False, fake=fake, jvp=LINEAR, vjp={"self": gradient},
                    format_of=format_of)(forward)
    back = declare_avg_backward(name, count, pool, format_of)
    capital_dimensions(name)
    return pool


def declare_avg_backward(name, count, pool, format_of):
    """Declare the backward of the average pool `name`, whose function is `pool`."""
    def backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return shares_of_averages(grad_output, self, count, kernel_size, stride, padding, ceil_mode,
                                  count_include_pad, divisor_override)

    def gradient(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    def tangent(grad_output_t, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return None if grad_output_t is None else back(grad_output_t, self, kernel_size, stride, padding, ceil_mode,
                                                       count_include_pad, divisor_override)

    backward.__doc__ = f"The gradient of `{name}`'s input."
    back = operator(f"{name}_backward", spaces=(), out=False, format_of=format_of, jvp=tangent,
                    vjp={"grad_output": gradient},
                    fake=lambda grad_output, self, *rest: Fake(self._shape, grad_output._dtype))(backward)
    return back


avg_pool2d, avg_pool3d = declare_avg_pool(2), declare_avg_pool(3)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    check_line_rank(input, "avg_pool1d")
    kernel = one_int(kernel_size, "avg_pool1d", "kernel_size")
    stride = kernel if stride in (None, (), []) else one_int(stride, "avg_pool1d", "stride")
    padding = one_int(padding, "avg_pool1d", "padding")
    return avg_pool2d(
        input.unsqueeze(-2), (1, kernel), (1, stride), (0, padding), ceil_mode, count_include_pad
    ).squeeze(-2)


spell(avg_pool1d, "avg_pool1d", AVERAGE_DOC.format(1), ("", "nn.functional"))


# ---- power averages

def lp_pool(pool, input, norm_type, kernel_size, stride, ceil_mode, count):
    """(sum of x^p)^(1/p) of each window, through the window's mean."""
    sizes = as_ints(kernel_size, f"lp_pool{count}d", "kernel_size", 3)
    mean = pool(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    relu = exports[""]["relu"]
    size = math.prod(sizes) if len(sizes) > 1 else sizes[0] ** count
    return (exports[""]["sign"](mean) * relu(exports[""]["abs"](mean))).mul(size).pow(1.0 / norm_type)


LP_DOC = "(sum of x^norm_type)^(1 / norm_type) of each window over {} dimensions."


def publish_lp_pool(count):
    def functional(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        pool = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}[count]
        return lp_pool(pool, input, norm_type, kernel_size, stride, ceil_mode, count)

    spell(functional, f"lp_pool{count}d", LP_DOC.format(count), ("nn.functional",))


for _count in (1, 2, 3):
    publish_lp_pool(_count)
