"""Images laid out for direct convolutions: with their padding, and dealt out into the phases of a stride.

A stride s takes every s-th element: the image is dealt out into its s * s phases (rows and columns of one
remainder), and within a phase the steps are of 1. A tap of the kernel is then (channel, phase, i // s,
j // s).
Arrays are (batch, channels, *space) with one to three dimensions of space.
"""

import functools
import math

import numpy as np

from . import tiles
from .cache import load_module
from .columns import lifted
from .copies import row_copies, row_turns
from .parallel import parallel_for

GRAIN = 1 << 17  # elements that are worth a thread

DEAL = '''
@njit(nogil=True, error_model="numpy")
def deal(x, space, first, out, start, channels, sizes, stride, front):
    """Fill out from element `start` on, OUTPUT, zero so far, from planes first to first + channels of x (planes,
    *space).

    front: elements of padding in front."""
    stride_z, stride_y, stride_x = stride
    front_z, front_y, front_x = front
    depth, height, width = sizes
    phases = stride_z * stride_y * stride_x
    for channel in CHANNELS:
        for phase in range(phases):
            first_x = phase % stride_x - front_x
            first_y = phase // stride_x % stride_y - front_y
            first_z = phase // (stride_x * stride_y) - front_z
            low = min(width, -(first_x // stride_x) if first_x < 0 else 0)
            count = min(width, (space[2] - first_x + stride_x - 1) // stride_x) - low
            for z in range(depth):
                from_z = z * stride_z + first_z
                for y in range(height):
                    from_y = y * stride_y + first_y
                    if 0 <= from_z < space[0] and 0 <= from_y < space[1]:
                        at = ((first + channel) * space[0] + from_z) * space[1] + from_y
                        at = at * space[2] + first_x + low * stride_x
                        PLACE


'''
CHANNELS_FIRST = (
    DEAL.replace("OUTPUT", "(channels, phases, *sizes)")
    .replace("CHANNELS", "range(channels)")
    .replace(
        "PLACE",
        '''place = start + (((channel * phases + phase) * depth + z) * height + y) * width + low
                        if stride_x == 1:
                            copy(x, at, out, place, count)
                        elif stride_x == 2:
                            halve(x, at, out, place, count)
                        else:
                            spread(x, at, stride_x, out, place, 1, count)''',
    )
)
CHANNELS_LAST = (
    DEAL.replace("OUTPUT", "(phases, *sizes, channels)")
    .replace("CHANNELS", "range(0, channels, ROWS)")
    .replace(
        "PLACE",
        '''place = start + (((phase * depth + z) * height + y) * width + low) * channels + channel
                        apart = space[0] * space[1] * space[2]
                        if stride_x == 1 and channel + ROWS <= channels:
                            turn(x, at, apart, out, place, channels, count)
                        elif channels == stride_x == 1:
                            copy(x, at, out, place, count)
                        else:
                            for r in range(min(ROWS, channels - channel)):
                                spread(x, at + r * apart, stride_x, out, place + r, channels, count)''',
    )
)

IMAGES = '''
@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, space, out, channels, sizes, stride, front, begin, end):
    elements = channels * stride[0] * stride[1] * stride[2] * sizes[0] * sizes[1] * sizes[2]
    for image in range(begin, end):
        deal(x, space, image * channels, out, image * elements, channels, sizes, stride, front)
'''


@functools.lru_cache(maxsize=None)
def _all_images(layout, itemsize):
    rows, vectors, lanes = tiles.shape(itemsize)
    text = tiles.header(rows, vectors, lanes) + row_copies(lanes) + row_turns(lanes, rows) + layout + IMAGES
    return load_module("phases", text).kernel


def phases_first(x, geometry, sizes):
    """x dealt out, flat: (batch, channels, *stride, *sizes)."""
    return _dealt(CHANNELS_FIRST, x, math.prod(x.shape[:2]), geometry, sizes, 0)


def phases_last(x, groups, geometry, sizes, slack):
    """x dealt out with the channels of a group innermost, flat: (batch, groups, *stride, *sizes, channels of a
    group); and `slack` elements more, so that vectors may reach over the end."""
    return _dealt(CHANNELS_LAST, x, x.shape[0] * groups, geometry, sizes, slack)


def _dealt(layout, x, images, geometry, sizes, slack):
    space, planes = lifted(x.shape[2:], 1), math.prod(x.shape[:2])
    size, channels = planes * math.prod((*geometry.stride, *sizes)), planes // max(images, 1)
    kernel, source, out = _all_images(layout, x.itemsize), np.ascontiguousarray(x), np.zeros(size + slack, x.dtype)
    settings = channels, lifted(sizes, 1), lifted(geometry.stride, 1), lifted(geometry.padding, 0)
    parallel_for(
        images,
        max(1, GRAIN * images // max(size, 1)),
        lambda begin, end: kernel(source, space, out, *settings, begin, end),
    )
    return out


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
