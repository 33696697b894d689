"""Images laid out for direct convolutions: with their padding, and dealt out into the phases of a stride.

A stride s takes every s-th element: the image is dealt out into its s * s phases (rows and columns of one
remainder), and within a phase the steps are of 1. A tap of the kernel is then (channel, phase, i // s,
j // s).
Arrays are (batch, channels, *space) with one to three dimensions of space.
"""

import functools
import math

import numpy as np

from .cache import load_module
from .columns import lifted
from .parallel import parallel_for

GRAIN = 1 << 15  # elements that are worth a thread

DEAL = '''
@njit(nogil=True, error_model="numpy")
def deal(x, first, out, channels, stride, front):
    """Fill OUTPUT from planes first to first + channels of x (planes, depth, height, width), zeros outside.

    front: elements of padding in front."""
    stride_z, stride_y, stride_x = stride
    front_z, front_y, front_x = front
    phases, depth, height, width = SIZES
    for phase in range(phases):
        first_x = phase % stride_x - front_x
        first_y = phase // stride_x % stride_y - front_y
        first_z = phase // (stride_x * stride_y) - front_z
        low = min(width, -(first_x // stride_x) if first_x < 0 else 0)
        high = max(low, min(width, (x.shape[3] - first_x + stride_x - 1) // stride_x))
        for z in range(depth):
            from_z = z * stride_z + first_z
            for y in range(height):
                from_y = y * stride_y + first_y
                for channel in range(channels):
                    to = PLACE
                    if 0 <= from_z < x.shape[1] and 0 <= from_y < x.shape[2]:
                        inside, line = to[low:high], x[first + channel, from_z, from_y]
                        used = line[first_x + low * stride_x :]
                        if stride_x == 1:
                            for i in range(inside.size):
                                inside[i] = used[i]
                        else:
                            for i in range(inside.size):
                                inside[i] = used[i * stride_x]
                        to[:low] = 0
                        to[high:] = 0
                    else:
                        to[:] = 0


'''
CHANNELS_FIRST = (
    DEAL.replace("OUTPUT", "(channels, phases, depth, height, width)")
    .replace("SIZES", "out.shape[1:]")
    .replace("PLACE", "out[channel, phase, z, y]")
)
CHANNELS_LAST = (
    DEAL.replace("OUTPUT", "(phases, depth, height, width, channels)")
    .replace("SIZES", "out.shape[:4]")
    .replace("PLACE", "out[phase, z, y, :, channel]")
)

IMAGES = '''
@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, out, channels, stride, front, begin, end):
    for image in range(begin, end):
        deal(x, image * channels, out[image], channels, stride, front)
'''


@functools.lru_cache(maxsize=None)
def _all_images(layout):
    return load_module("phases", f"from numba import njit\n\n{layout}{IMAGES}").kernel


def phases_first(x, geometry, sizes):
    """x dealt out, flat: (batch, channels, *stride, *sizes)."""
    planes = math.prod(x.shape[:2])
    flat = np.empty(planes * math.prod(geometry.stride) * math.prod(sizes), x.dtype)
    out = flat.reshape(planes, 1, math.prod(geometry.stride), *lifted(sizes, 1))
    _run(CHANNELS_FIRST, x, out, 1, geometry)
    return flat


def phases_last(x, groups, geometry, sizes, slack):
    """x dealt out with the channels of a group innermost, flat: (batch, groups, *stride, *sizes, channels of a
    group); and `slack` elements more, so that vectors may reach over the end."""
    images, channels = x.shape[0] * groups, x.shape[1] // groups
    flat = np.zeros(x.shape[0] * x.shape[1] * math.prod(geometry.stride) * math.prod(sizes) + slack, x.dtype)
    out = flat[: flat.size - slack].reshape(images, math.prod(geometry.stride), *lifted(sizes, 1), channels)
    _run(CHANNELS_LAST, x, out, channels, geometry)
    return flat


def _run(layout, x, out, channels, geometry):
    planes = np.ascontiguousarray(x).reshape(-1, *lifted(x.shape[2:], 1))
    settings = channels, lifted(geometry.stride, 1), lifted(geometry.padding, 0)
    parallel_for(
        len(out),
        max(1, GRAIN * len(out) // max(out.size, 1)),
        lambda begin, end: _all_images(layout)(planes, out, *settings, begin, end),
    )


def phase_sizes(space, geometry):
    """The space of a phase, the padding included."""
    return tuple([-(-(n + 2 * p) // s) for n, p, s in zip(space, geometry.padding, geometry.stride)])


def tap_offsets(count, sizes, geometry, apart=1):
    """Where each tap (channel, *kernel) lies in flat phases (count, *stride, *sizes); apart: elements from one
    place to the next."""
    return _tap_offsets(count, geometry.stride, tuple(sizes), geometry.kernel, geometry.dilation, apart)


@functools.lru_cache(maxsize=256)
def _tap_offsets(count, stride, sizes, kernel, dilation, apart):
    steps = apart * np.cumprod((1, *sizes[::-1], *stride[::-1]))[::-1]  # elements to the next index
    found = np.arange(count) * steps[0]
    ndim = len(stride)
    for d, (k, s, step) in enumerate(zip(kernel, stride, dilation)):
        reach = np.arange(k) * step
        found = np.add.outer(found, reach % s * steps[1 + d] + reach // s * steps[1 + ndim + d])
    return found.reshape(-1).astype(np.int64)


def row_numbers(sizes, places, longest):
    """The integers by which kernels take several rows of results as one: elements from a row of the image to
    the next, from a slab to the next; rows and columns that are taken together, about `longest` elements."""
    _, height, row = lifted(sizes, 1)
    _, rows, columns = lifted(places, 1)
    if row > longest:
        return row, height * row, 1, min(columns, longest)
    return row, height * row, min(rows, max(1, (longest - columns) // row + 1)), columns
