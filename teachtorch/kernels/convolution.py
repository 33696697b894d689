"""Convolutions of arrays as matrix products: sliding blocks become columns (im2col), and BLAS does the rest.

Arrays are (batch, channels, *space) with one to three dimensions of space. Images are taken a few at a time,
so that their columns stay in the processor's cache. Small arrays are gathered by NumPy, large ones by a
compiled loop.
K. Chellapilla et al., "High performance convolutional neural networks for document processing" (2006).
"""

import functools
import itertools
import math

import numpy as np

from . import direct_convolution as direct
from .cache import load_module
from .parallel import parallel_for

SMALL = 1 << 15  # elements of columns up to which NumPy gathers: no wait for a compiler
BLOCK = 1 << 18  # elements of columns made at a time
GRAIN = 1 << 14  # elements that are worth a thread
FEW_PLACES = 64  # with fewer places in an image, the images of a block are joined into one product
LARGE = 1 << 22  # multiplications from which on the direct loops are worth compiling

HEADER = '''"""Sliding blocks of (planes, depth, height, width) to columns and back."""
from numba import njit


'''
GATHER = '''@njit(cache=True, nogil=True)
def kernel(x, columns, steps, begin, end):
    """columns (planes, *kernel, *places) from x, zero outside of it; steps: strides, paddings, dilations."""
    stride_z, stride_y, stride_x, pad_z, pad_y, pad_x, apart_z, apart_y, apart_x = steps
    kernel_z, kernel_y, kernel_x, places_z, places_y, places_x = columns.shape[1:]
    depth, height, width = x.shape[1:]
    for plane in range(begin, end):
        for a in range(kernel_z):
            for b in range(kernel_y):
                for c in range(kernel_x):
                    shift = c * apart_x - pad_x
                    first = min(max(0, (stride_x - 1 - shift) // stride_x), places_x)
                    last = max(first, min(places_x, (width - 1 - shift) // stride_x + 1))
                    for i in range(places_z):
                        z = i * stride_z + a * apart_z - pad_z
                        for j in range(places_y):
                            y = j * stride_y + b * apart_y - pad_y
                            row = columns[plane, a, b, c, i, j]
                            if z < 0 or z >= depth or y < 0 or y >= height:
                                row[:] = 0
                                continue
                            source = x[plane, z, y]
                            row[:first] = 0
                            row[last:] = 0
                            if stride_x == 1:
                                for k in range(first, last):
                                    row[k] = source[k + shift]
                            else:
                                for k in range(first, last):
                                    row[k] = source[k * stride_x + shift]
'''
SCATTER = '''@njit(cache=True, nogil=True)
def kernel(x, columns, steps, begin, end):
    """Add the columns to where gather took them from."""
    stride_z, stride_y, stride_x, pad_z, pad_y, pad_x, apart_z, apart_y, apart_x = steps
    kernel_z, kernel_y, kernel_x, places_z, places_y, places_x = columns.shape[1:]
    depth, height, width = x.shape[1:]
    for plane in range(begin, end):
        for a in range(kernel_z):
            for b in range(kernel_y):
                for c in range(kernel_x):
                    shift = c * apart_x - pad_x
                    first = min(max(0, (stride_x - 1 - shift) // stride_x), places_x)
                    last = max(first, min(places_x, (width - 1 - shift) // stride_x + 1))
                    for i in range(places_z):
                        z = i * stride_z + a * apart_z - pad_z
                        for j in range(places_y):
                            y = j * stride_y + b * apart_y - pad_y
                            if z < 0 or z >= depth or y < 0 or y >= height:
                                continue
                            row, target = columns[plane, a, b, c, i, j], x[plane, z, y]
                            if stride_x == 1:
                                for k in range(first, last):
                                    target[k + shift] += row[k]
                            else:
                                for k in range(first, last):
                                    target[k * stride_x + shift] += row[k]
'''


@functools.lru_cache(maxsize=None)
def _gather():
    return load_module("gather_columns", HEADER + GATHER).kernel


@functools.lru_cache(maxsize=None)
def _scatter():
    return load_module("scatter_columns", HEADER + SCATTER).kernel


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
        """Strides, paddings and dilations for three dimensions."""
        return lifted(self.stride, 1) + lifted(self.padding, 0) + lifted(self.dilation, 1)


def lifted(values, fill):
    """Three values from one to three, the missing ones in front."""
    return (fill,) * (3 - len(values)) + tuple(values)


# ---- columns ---


def to_columns(x, geometry, places=None):
    """(batch, channels, *kernel, *places): every block that the kernel covers, with zeros for what is
    outside."""
    places = places or geometry.places(x.shape[2:])
    shape = x.shape[:2] + geometry.kernel + places
    if math.prod(shape) <= SMALL or not is_compiled(x.dtype):
        return np.ascontiguousarray(windows(padded(x, geometry.padding), geometry, places))
    columns = np.empty(shape, x.dtype)
    run(_gather(), x, columns, geometry, places)
    return columns


def from_columns(columns, space, geometry):
    """(batch, channels, *space): the columns added up where `to_columns` takes them from."""
    places = columns.shape[-len(space) :]  # one less than would fit where output_padding made room for it
    if columns.size <= SMALL or not is_compiled(columns.dtype):
        return added_windows(columns, space, geometry, places)
    x = np.zeros(columns.shape[:2] + tuple(space), columns.dtype)
    run(_scatter(), x, columns, geometry, places)
    return x


def is_compiled(dtype):
    return dtype.char in "fd"


def run(loop, x, columns, geometry, places):
    """Run a compiled loop over all planes (images times channels)."""
    planes = x.shape[0] * x.shape[1]
    flat = x.reshape(planes, *lifted(x.shape[2:], 1))
    flat_columns = columns.reshape(planes, *lifted(geometry.kernel, 1), *lifted(places, 1))
    grain = max(1, GRAIN * planes // max(columns.size, 1))
    steps = geometry.steps()
    parallel_for(planes, grain, lambda begin, end: loop(flat, flat_columns, steps, begin, end))


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
    sizes = [n + 2 * p for n, p in zip(space, geometry.padding)]
    found = np.zeros((*columns.shape[:2], *sizes), columns.dtype)
    for offset in itertools.product(*map(range, geometry.kernel)):
        found[(..., *spots(offset, geometry, places))] += columns[(slice(None), slice(None), *offset)]
    inner = [slice(p, p + n) for n, p in zip(space, geometry.padding)]
    return np.ascontiguousarray(found[(..., *inner)])


def spots(offset, geometry, places):
    """Where one element of the kernel lies, at each place: a slice per dimension."""
    return [
        slice(o * d, o * d + s * (n - 1) + 1 if n else 0, s)
        for o, d, s, n in zip(offset, geometry.dilation, geometry.stride, places)
    ]


# ---- convolutions ---


def convolve(x, weight, bias, geometry, groups):
    """(batch, out_channels, *places); weight: (out_channels, channels / groups, *kernel)."""
    places = geometry.places(x.shape[2:])
    batch, outputs, count = x.shape[0], weight.shape[0], math.prod(places)
    if is_direct(x.dtype, geometry, places, batch * outputs * weight[0].size):
        return direct.convolve(padded(x, geometry.padding), weight, bias, geometry.dilation, groups)
    matrices = weight.reshape(groups, outputs // groups, -1)
    found = np.empty((batch, groups, outputs // groups, count), x.dtype)
    for begin, end in blocks(batch, matrices.shape[2] * groups * count):
        columns = block_columns(x[begin:end], geometry, groups, places)
        multiply(matrices, columns, found[begin:end])
        if bias is not None:
            found[begin:end] += bias.reshape(groups, -1, 1)
    return found.reshape(batch, outputs, *places)


def convolve_transposed(grad, weight, space, geometry, groups):
    """The gradient of `convolve`'s x, (batch, channels, *space), which is the transposed convolution of
    `grad`."""
    batch, outputs = grad.shape[:2]
    margin = [d * (k - 1) - p for k, p, d in zip(geometry.kernel, geometry.padding, geometry.dilation)]
    if min(margin) >= 0 and is_direct(grad.dtype, geometry, space, batch * grad.shape[1] * weight[0].size):
        return direct.convolve(padded(grad, margin), turned(weight, groups), None, geometry.dilation, groups)
    matrices = weight.reshape(groups, outputs // groups, -1).swapaxes(1, 2)
    count = math.prod(grad.shape[2:])
    flat = grad.reshape(batch, groups, outputs // groups, count)
    found = np.empty((batch, weight.shape[1] * groups, *space), grad.dtype)
    for begin, end in blocks(batch, matrices.shape[1] * groups * count):
        columns = np.empty((end - begin, groups, matrices.shape[1], count), grad.dtype)
        multiply(matrices, flat[begin:end], columns)
        if geometry.is_pointwise():
            found[begin:end] = columns.reshape(found[begin:end].shape)
        else:
            shape = (end - begin, found.shape[1], *geometry.kernel, *grad.shape[2:])
            found[begin:end] = from_columns(columns.reshape(shape), space, geometry)
    return found


def weight_gradient(grad, x, weight_shape, geometry, groups):
    """The gradient of `convolve`'s weight, of shape `weight_shape`."""
    batch, outputs = grad.shape[:2]
    count = math.prod(grad.shape[2:])
    length = math.prod(weight_shape[1:])
    if is_direct(x.dtype, geometry, grad.shape[2:], batch * outputs * length):
        source = padded(x, geometry.padding)
        return direct.weight_gradient(
            np.ascontiguousarray(grad), source, weight_shape, geometry.dilation, groups
        )
    flat = grad.reshape(batch, groups, outputs // groups, count)
    found = np.zeros((groups, outputs // groups, length), grad.dtype)
    for begin, end in blocks(batch, length * groups * count):
        columns = block_columns(x[begin:end], geometry, groups, grad.shape[2:])
        if count < FEW_PLACES and end - begin > 1:
            found += np.matmul(joined(flat[begin:end]), joined(columns).swapaxes(1, 2))
        else:
            found += np.matmul(flat[begin:end], columns.swapaxes(2, 3)).sum(0)
    return found.reshape(weight_shape)


def is_direct(dtype, geometry, places, work):
    """Whether the loops of direct_convolution serve; `work`: multiplications per place."""
    if any([s != 1 for s in geometry.stride]) or geometry.is_pointwise() or not is_compiled(dtype):
        return False
    count = math.prod(places)
    return count >= FEW_PLACES and work * count >= LARGE


def turned(weight, groups):
    """The weight of the transposed convolution: channels exchanged within groups, the kernel turned round."""
    outputs, channels, *kernel = weight.shape
    parts = weight.reshape(groups, outputs // groups, channels, *kernel).swapaxes(1, 2)
    parts = np.flip(parts, tuple(range(3, 3 + len(kernel))))
    return np.ascontiguousarray(parts).reshape(groups * channels, outputs // groups, *kernel)


def blocks(batch, size):
    """Ranges of images with about BLOCK elements of columns; `size`: those of one image."""
    step = max(1, BLOCK // max(size, 1))
    return [(begin, min(begin + step, batch)) for begin in range(0, batch, step)]


def block_columns(x, geometry, groups, places):
    """The columns of some images, (images, groups, channels / groups * kernel, number of places)."""
    length = x.shape[1] // groups * math.prod(geometry.kernel)
    columns = np.ascontiguousarray(x) if geometry.is_pointwise() else to_columns(x, geometry, places)
    return columns.reshape(x.shape[0], groups, length, math.prod(places))


def multiply(matrices, columns, out):
    """out[i] = matrices @ columns[i], by group."""
    if columns.shape[3] < FEW_PLACES and columns.shape[0] > 1:
        product = np.matmul(matrices, joined(columns))
        shape = (*product.shape[:2], columns.shape[0], columns.shape[3])
        out[...] = product.reshape(shape).transpose(2, 0, 1, 3)
    else:
        np.matmul(matrices, columns, out=out)


def joined(columns):
    """(groups, length, images * places): the images side by side."""
    images, groups, length, count = columns.shape
    return columns.transpose(1, 2, 0, 3).reshape(groups, length, images * count)
