"""Windows of arrays: their maxima, with where they were found, and their sums. Arrays are (planes, *space).

An index counts the elements of a plane. Small arrays are handled offset by offset of the window with NumPy,
large ones by compiled loops.
"""

import functools
import itertools
import math

import numpy as np

from . import rows
from .cache import load_module
from .parallel import parallel_for

SMALL = 1 << 13  # elements of the result times the window's up to which NumPy does it
GRAIN = 1 << 13

HEADER = '''"""Maxima of sliding windows, and what goes back to where they were."""
import numpy as np
from numba import njit
'''
LOOPS = {
    "maxima": '''

@njit(cache=True, nogil=True)
def kernel(x, values, indices, window, begin, end):
    """window: kernel sizes, strides, paddings, dilations."""
    kernel_z, kernel_y, kernel_x, stride_z, stride_y, stride_x = window[:6]
    pad_z, pad_y, pad_x, apart_z, apart_y, apart_x = window[6:]
    depth, height, width = x.shape[1:]
    for plane in range(begin, end):
        for i in range(values.shape[1]):
            z0 = i * stride_z - pad_z
            z1 = min(z0 + (kernel_z - 1) * apart_z + 1, depth)
            while z0 < 0:
                z0 += apart_z
            for j in range(values.shape[2]):
                y0 = j * stride_y - pad_y
                y1 = min(y0 + (kernel_y - 1) * apart_y + 1, height)
                while y0 < 0:
                    y0 += apart_y
                for k in range(values.shape[3]):
                    x0 = k * stride_x - pad_x
                    x1 = min(x0 + (kernel_x - 1) * apart_x + 1, width)
                    while x0 < 0:
                        x0 += apart_x
                    best = x[plane, z0, y0, x0]
                    place = (z0 * height + y0) * width + x0
                    for z in range(z0, z1, apart_z):
                        for y in range(y0, y1, apart_y):
                            for c in range(x0, x1, apart_x):
                                value = x[plane, z, y, c]
                                if value > best or value != value:
                                    best = value
                                    place = (z * height + y) * width + c
                    values[plane, i, j, k] = best
                    indices[plane, i, j, k] = place
''',
    "pairs": '''

@njit(cache=True, nogil=True)
def kernel(x, values, indices, begin, end):
    """Maxima of windows of 2 x 2, side by side."""
    width = x.shape[2]
    for plane in range(begin, end):
        for j in range(values.shape[1]):
            upper, lower = x[plane, 2 * j], x[plane, 2 * j + 1]
            value_row, index_row = values[plane, j], indices[plane, j]
            for k in range(value_row.size):
                best, place = upper[2 * k], 2 * j * width + 2 * k
                start = place
                other = upper[2 * k + 1]
                take = (other > best) | (other != other)
                best, place = (other, start + 1) if take else (best, place)
                other = lower[2 * k]
                take = (other > best) | (other != other)
                best, place = (other, start + width) if take else (best, place)
                other = lower[2 * k + 1]
                take = (other > best) | (other != other)
                best, place = (other, start + width + 1) if take else (best, place)
                value_row[k] = best
                index_row[k] = place
''',
    "give_back": '''

@njit(cache=True, nogil=True)
def kernel(out, grad, indices, begin, end):
    """out[plane, index] += grad, after filling out with zeros."""
    for plane in range(begin, end):
        row = out[plane]
        row[:] = 0
        for k in range(grad.shape[1]):
            row[indices[plane, k]] += grad[plane, k]
''',
}


@functools.lru_cache(maxsize=None)
def loop(name):
    """The compiled loop of that name."""
    return load_module(f"{name}", HEADER + LOOPS[name]).kernel


class Window:
    """How a window slides: sizes, strides, paddings and dilations, one per dimension of space."""

    __slots__ = ("kernel", "stride", "padding", "dilation", "ceil_mode")

    def __init__(self, kernel, stride, padding, dilation, ceil_mode):
        self.kernel, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation
        self.ceil_mode = ceil_mode

    def places(self, space):
        """How many windows there are, by dimension."""
        return tuple(
            [
                places(*numbers, self.ceil_mode)
                for numbers in zip(space, self.kernel, self.stride, self.padding, self.dilation)
            ]
        )

    def lifted(self):
        """The numbers for three dimensions, those of dimensions that are not there in front."""
        missing = 3 - len(self.kernel)
        parts = ((1, self.kernel), (1, self.stride), (0, self.padding), (1, self.dilation))
        return tuple([number for fill, values in parts for number in (fill,) * missing + tuple(values)])


def places(size, kernel, stride, padding, dilation, ceil_mode):
    """How many windows there are along a dimension; with `ceil_mode` the last may hang over, but not begin outside."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def inside(offset, size, stride, padding, dilation, count):
    """(places, elements) as slices: the windows whose element `offset` is inside, and those elements."""
    shift = offset * dilation - padding
    first = max(0, -(shift // stride))
    last = min(count, (size - 1 - shift) // stride + 1)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    return slice(first, last), slice(first * stride + shift, (last - 1) * stride + shift + 1, stride)


# ---- maxima ---


def max_windows(x, window):
    """(maxima, indices) of each window; the first of equal ones; NaN wins."""
    found = window.places(x.shape[1:])
    shape = (x.shape[0], *found)
    if math.prod(shape) * math.prod(window.kernel) <= SMALL or x.dtype.char not in "fd":
        return small_max(x, window, shape)
    x = np.ascontiguousarray(x)
    values, indices = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    grain = max(1, GRAIN // math.prod(found))
    if is_paired(window, x.shape[1:]):
        parallel_for(shape[0], grain, lambda begin, end: loop("pairs")(x, values, indices, begin, end))
    else:
        parts = [a.reshape(a.shape[0], *(1,) * (4 - a.ndim), *a.shape[1:]) for a in (x, values, indices)]
        numbers = window.lifted()
        parallel_for(shape[0], grain, lambda begin, end: loop("maxima")(*parts, numbers, begin, end))
    return values, indices


def is_paired(window, space):
    is_plain = (
        window.kernel == (2, 2) == window.stride and not any(window.padding) and window.dilation == (1, 1)
    )
    return is_plain and not (window.ceil_mode and any(n % 2 for n in space))


def small_max(x, window, shape):
    values, indices = np.zeros(shape, x.dtype), np.full(shape, -1, np.int64)
    positions = np.arange(math.prod(x.shape[1:]), dtype=np.int64).reshape(x.shape[1:])
    for offset in itertools.product(*map(range, window.kernel)):
        spots, elements = spots_of(offset, window, x.shape[1:], shape[1:])
        value, best, index = x[elements], values[spots], indices[spots]
        better = (value > best) | (value != value) | (index < 0)
        np.copyto(best, value, where=better)
        np.copyto(index, positions[elements[1:]], where=better)
    return values, indices


def spots_of(offset, window, space, counts):
    """Indices of the windows whose element `offset` is inside, and of those elements, over all planes."""
    pairs = [
        inside(o, n, s, p, d, c)
        for o, n, s, p, d, c in zip(offset, space, window.stride, window.padding, window.dilation, counts)
    ]
    return (slice(None), *[a for a, _ in pairs]), (slice(None), *[b for _, b in pairs])


def scattered(grad, indices, space):
    """(planes, *space): each element of `grad` (planes, ...) added to its index of its plane."""
    planes, size = grad.shape[0], math.prod(space)
    flat, places_ = [a.reshape(planes, math.prod(a.shape[1:])) for a in (grad, indices)]
    if grad.size > SMALL and grad.dtype.char in "fd":
        out = np.empty((planes, size), grad.dtype)
        flat, places_ = np.ascontiguousarray(flat), np.ascontiguousarray(places_)
        grain = max(1, GRAIN // max(size, 1))
        parallel_for(planes, grain, lambda begin, end: loop("give_back")(out, flat, places_, begin, end))
    else:
        out = np.zeros((planes, size), grad.dtype)
        rows.reduce_at(np.add, out, places_ + np.arange(planes)[:, None] * size, flat)
    return out.reshape(planes, *space)


def max_bins(x, bins):
    """(maxima, indices) of bins: per dimension a list of (begin, end)."""
    shape = (x.shape[0], *map(len, bins))
    values, indices = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    if not x.size:
        return values, indices
    for place in itertools.product(*map(range, shape[1:])):
        ranges = [bins[d][p] for d, p in enumerate(place)]
        part = x[(slice(None), *[slice(*r) for r in ranges])]
        best = part.reshape(x.shape[0], -1).argmax(1)
        where = np.unravel_index(best, part.shape[1:])
        spots = tuple([w + r[0] for w, r in zip(where, ranges)])
        values[(slice(None), *place)] = x[(np.arange(x.shape[0]), *spots)]
        indices[(slice(None), *place)] = np.ravel_multi_index(spots, x.shape[1:])
    return values, indices


def bins_of(size, count):
    """The bins of adaptive pooling: from floor(i size / count) to ceil((i + 1) size / count)."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


# ---- sums ---


def sum_windows(x, window, counts):
    """The sum of each window, one dimension after the other."""
    for dim in reversed(range(len(counts))):
        found = np.zeros((*x.shape[: dim + 1], counts[dim], *x.shape[dim + 2 :]), x.dtype)
        for offset in range(window.kernel[dim]):
            spots, elements = along(offset, window, dim, x.shape[dim + 1], counts[dim])
            found[spots] += x[elements]
        x = found
    return x


def spread_windows(grad, window, space):
    """The transpose of sum_windows: each gradient added to every element of its window."""
    for dim in range(len(space)):
        found = np.zeros((*grad.shape[: dim + 1], space[dim], *grad.shape[dim + 2 :]), grad.dtype)
        for offset in range(window.kernel[dim]):
            spots, elements = along(offset, window, dim, space[dim], grad.shape[dim + 1])
            found[elements] += grad[spots]
        grad = found
    return grad


def along(offset, window, dim, size, count):
    """Indices of the windows along one dimension whose element `offset` is inside, and of those elements."""
    spots, elements = inside(offset, size, window.stride[dim], window.padding[dim], 1, count)
    before = (slice(None),) * (dim + 1)
    return (*before, spots), (*before, elements)


def window_sizes(window, space, counts, count_include_pad):
    """How many elements each window averages, of shape `counts`."""
    sizes = np.ones((), np.int64)
    for dim, (size, count) in enumerate(zip(space, counts)):
        begin = np.arange(count) * window.stride[dim] - window.padding[dim]
        end = begin + window.kernel[dim]
        low, high = (-window.padding[dim], size + window.padding[dim]) if count_include_pad else (0, size)
        sizes = np.multiply.outer(sizes, end.clip(max=high) - begin.clip(min=low))
    return sizes


def averaging_matrix(size, count, dtype):
    """(count, size): row i averages the i-th bin of adaptive pooling."""
    found = np.zeros((count, size), dtype)
    for i, (begin, end) in enumerate(bins_of(size, count)):
        found[i, begin:end] = 1 / (end - begin)
    return found


def by_dimension(x, matrices):
    """Each dimension of space times its matrix (result, size)."""
    for dim, matrix in enumerate(matrices, 1):
        x = np.moveaxis(np.moveaxis(x, dim, -1) @ matrix.T, -1, dim)
    return np.ascontiguousarray(x)
