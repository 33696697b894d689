"""Sliding blocks of arrays as columns (im2col), and columns added up where they were taken from (col2im).

Arrays are (batch, channels, *space) with one to three dimensions of space. Small arrays are gathered by NumPy,
large ones by a compiled loop.
"""

import functools
import itertools
import math

import numpy as np

from .cache import load_module
from .parallel import parallel_for

SMALL = 1 << 15  # elements of columns up to which NumPy gathers: no wait for a compiler
GRAIN = 1 << 16  # elements of columns that are worth a thread

HEADER = '''"""Sliding blocks of (images, channels, depth, height, width) to columns, or back."""
from numba import njit


'''
# Rows of arrays are taken by indices that only loops count: then Numba knows that none is negative, and LLVM
# uses vectors. With flat arrays and sums of indices the loop takes three times as long.
WINDOWS = '''@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, columns, steps, kernel_size, places, is_joined, begin, end):
    """columns (images * channels, taps, rows, places_x); joined: (channels, taps, images * rows, places_x).

    steps: strides and dilations."""
    stride_z, stride_y, stride_x, apart_z, apart_y, apart_x = steps
    kernel_z, kernel_y, kernel_x = kernel_size
    places_z, places_y, places_x = places
    channels = x.shape[1]
    for plane in range(begin, end):
        image, channel = plane // channels, plane % channels
        above = image * places_z * places_y if is_joined else 0
        to = columns[channel if is_joined else plane]
        for a in range(kernel_z):
            for b in range(kernel_y):
                for c in range(kernel_x):
                    rows = to[(a * kernel_y + b) * kernel_x + c]
                    shift = c * apart_x
                    for i in range(places_z):
                        for j in range(places_y):
                            row = rows[above + i * places_y + j]
                            line = x[image, channel, i * stride_z + a * apart_z, j * stride_y + b * apart_y]
                            if stride_x == 1:
                                for k in range(places_x):
                                    MOVE_NEXT
                            else:
                                for k in range(places_x):
                                    MOVE_APART
'''


@functools.lru_cache(maxsize=None)
def _gather():
    """The loop that fills the columns from x."""
    text = WINDOWS.replace("MOVE_NEXT", "row[k] = line[k + shift]")
    text = text.replace("MOVE_APART", "row[k] = line[k * stride_x + shift]")
    return load_module("gather_columns", HEADER + text).kernel


@functools.lru_cache(maxsize=None)
def _scatter():
    """The loop that adds the columns to where `_gather` takes them from."""
    text = WINDOWS.replace("MOVE_NEXT", "line[k + shift] += row[k]")
    text = text.replace("MOVE_APART", "line[k * stride_x + shift] += row[k]")
    return load_module("scatter_columns", HEADER + text).kernel


# ---- sizes ---


class Geometry:
    """How a kernel slides: kernel sizes, strides, paddings and dilations, one per dimension of space."""

    __slots__ = ("kernel", "stride", "padding", "dilation")

    def __init__(self, kernel, stride, padding, dilation):
        self.kernel, self.stride = tuple(kernel), tuple(stride)
        self.padding, self.dilation = tuple(padding), tuple(dilation)

    def places(self, space):
        """How often the kernel fits, by dimension."""
        return tuple(
            [
                (n + 2 * p - d * (k - 1) - 1) // s + 1
                for n, k, s, p, d in zip(space, self.kernel, self.stride, self.padding, self.dilation)
            ]
        )

    def is_pointwise(self):
        """Whether the columns are the array itself."""
        return not any(self.padding) and all([k == s == 1 for k, s in zip(self.kernel, self.stride)])

    def steps(self):
        """Strides and dilations for three dimensions."""
        return lifted(self.stride, 1) + lifted(self.dilation, 1)


def lifted(values, fill):
    """Three values from one to three, the missing ones in front."""
    return (fill,) * (3 - len(values)) + tuple(values)


# ---- columns ---


def to_columns(x, geometry, places=None):
    """(batch, channels, *kernel, *places): every block that the kernel covers, with zeros for what is outside."""
    places = places or geometry.places(x.shape[2:])
    shape = x.shape[:2] + geometry.kernel + places
    if math.prod(shape) <= SMALL or not is_compiled(x.dtype):
        return np.ascontiguousarray(windows(padded(x, geometry.padding), geometry, places))
    columns = np.empty(shape, x.dtype)
    run(_gather(), padded(x, geometry.padding), columns, geometry, places)
    return columns


def to_joined_columns(x, geometry, places):
    """The same, the images side by side: (channels, *kernel, batch, *places)."""
    shape = (x.shape[1], *geometry.kernel, x.shape[0], *places)
    if math.prod(shape) <= SMALL or not is_compiled(x.dtype):
        return np.ascontiguousarray(joined(windows(padded(x, geometry.padding), geometry, places), len(places)))
    columns = np.empty(shape, x.dtype)
    run(_gather(), padded(x, geometry.padding), columns, geometry, places, is_joined=True)
    return columns


def joined(columns, ndim):
    """A view of columns with the images in front of the `ndim` dimensions of places."""
    return np.moveaxis(columns, 0, -ndim - 1)


def from_columns(columns, space, geometry):
    """(batch, channels, *space): the columns added up where `to_columns` takes them from."""
    places = columns.shape[-len(space) :]  # one less than would fit where output_padding made room for it
    if columns.size <= SMALL or not is_compiled(columns.dtype):
        return added_windows(columns, space, geometry, places)
    x = np.zeros((*columns.shape[:2], *with_padding(space, geometry)), columns.dtype)
    run(_scatter(), x, columns, geometry, places)
    return without_padding(x, space, geometry)


def from_joined_columns(columns, space, geometry):
    """(batch, channels, *space) from the columns of `to_joined_columns`."""
    ndim = len(space)
    if columns.size <= SMALL or not is_compiled(columns.dtype):
        return added_windows(np.moveaxis(columns, -ndim - 1, 0), space, geometry, columns.shape[-ndim:])
    x = np.zeros((columns.shape[-ndim - 1], columns.shape[0], *with_padding(space, geometry)), columns.dtype)
    run(_scatter(), x, columns, geometry, columns.shape[-ndim:], is_joined=True)
    return without_padding(x, space, geometry)


def with_padding(space, geometry):
    return [n + 2 * p for n, p in zip(space, geometry.padding)]


def without_padding(x, space, geometry):
    """A view of x without the zeros around each plane."""
    return x[(..., *[slice(p, p + n) for n, p in zip(space, geometry.padding)])]


def is_compiled(dtype):
    return dtype.char in "fd"


def run(loop, x, columns, geometry, places, is_joined=False):
    """Run a compiled loop over all planes (images times channels)."""
    batch, channels = x.shape[:2]
    images = x.reshape(batch, channels, *lifted(x.shape[2:], 1))
    rows = columns.reshape(channels if is_joined else batch * channels, math.prod(geometry.kernel), -1, places[-1])
    sizes = geometry.steps(), lifted(geometry.kernel, 1), lifted(places, 1), is_joined
    grain = max(1, GRAIN * batch * channels // max(columns.size, 1))
    parallel_for(batch * channels, grain, lambda begin, end: loop(images, rows, *sizes, begin, end))


def padded(x, padding):
    """A contiguous array with zeros around each plane."""
    if not any(padding):
        return np.ascontiguousarray(x)
    space = [n + 2 * p for n, p in zip(x.shape[2:], padding)]
    found = np.zeros((*x.shape[:2], *space), x.dtype)
    found[(..., *[slice(p, p + n) for n, p in zip(x.shape[2:], padding)])] = x
    return found


def windows(x, geometry, places):
    """A view (batch, channels, *kernel, *places) of a padded contiguous array."""
    across = x.strides[2:]
    strides = (
        *x.strides[:2],
        *[s * d for s, d in zip(across, geometry.dilation)],
        *[s * step for s, step in zip(across, geometry.stride)],
    )
    shape = (*x.shape[:2], *geometry.kernel, *places)
    if not x.size or not math.prod(shape):
        return np.zeros(shape, x.dtype)
    return np.ndarray(shape, x.dtype, x, 0, strides)


def added_windows(columns, space, geometry, places):
    found = np.zeros((*columns.shape[:2], *with_padding(space, geometry)), columns.dtype)
    for offset in itertools.product(*map(range, geometry.kernel)):
        found[(..., *spots(offset, geometry, places))] += columns[(slice(None), slice(None), *offset)]
    return without_padding(found, space, geometry)


def spots(offset, geometry, places):
    """Where one element of the kernel lies, at each place: a slice per dimension."""
    return [
        slice(o * d, o * d + s * (n - 1) + 1 if n else 0, s)
        for o, d, s, n in zip(offset, geometry.dilation, geometry.stride, places)
    ]
