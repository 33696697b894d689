"""Convolutions of arrays as matrix products: sliding blocks become columns, and BLAS does the rest.

Arrays are (batch, channels, *space) with one to three dimensions of space. Threads take images, a few at a
time, so that their columns stay in the processor's cache. Large arrays need no columns: direct_convolution
serves, unless the kernel is a single element, so that the image itself is the matrix.
K. Chellapilla et al., "High performance convolutional neural networks for document processing" (2006).
"""

import math

import numpy as np

from . import blas, thin_convolution
from . import direct_convolution as direct
from .columns import from_columns, from_joined_columns, is_compiled, to_columns, to_joined_columns
from .parallel import parallel_for

BLOCK = 1 << 18  # elements of columns made at a time
WORK = 1 << 21  # multiplications that are worth a thread
PLACES = 512  # results that a product should have, per channel
FEW_PLACES = 128  # with fewer places in an image, the images of a block are joined into one product
LONG_RUN = 8  # elements of the kernel side by side that make vectors of them worth while
LARGE = 1 << 20  # multiplications from which on the direct loops are worth compiling


def convolve(x, weight, bias, geometry, groups):
    """(batch, out_channels, *places); weight: (out_channels, channels / groups, *kernel)."""
    places = geometry.places(x.shape[2:])
    batch, outputs, count = x.shape[0], weight.shape[0], math.prod(places)
    if is_direct(x.dtype, weight.size, geometry, batch * count):
        return direct.convolve(x, weight, bias, geometry, groups)
    matrices = weight.reshape(groups, outputs // groups, -1)
    found = np.empty((batch, groups, outputs // groups, count), x.dtype)
    shifts = None if bias is None else bias.reshape(groups, -1, 1)

    def block(begin, end):
        part = found[begin:end]
        if is_one_product(end - begin, count):
            columns = joined_columns(x[begin:end], geometry, groups, places)
            product = blas.matmul(matrices, columns).reshape(groups, -1, end - begin, count)
            part[...] = product.transpose(2, 0, 1, 3)
        else:
            blas.matmul(matrices, block_columns(x[begin:end], geometry, groups, places), part)
        if shifts is not None:
            np.add(part, shifts, part)

    by_blocks(batch, count, matrices[0].shape[1] * groups, weight.size, block)
    return found.reshape(batch, outputs, *places)


def convolve_transposed(grad, weight, space, geometry, groups):
    """The gradient of `convolve`'s x, (batch, channels, *space), which is the transposed convolution of
    `grad`."""
    batch, outputs, *places = grad.shape
    count = math.prod(places)
    if is_direct(grad.dtype, weight.size, geometry, batch * count):
        return direct.convolve_transposed(grad, weight, space, geometry, groups)
    matrices = weight.reshape(groups, outputs // groups, -1).swapaxes(1, 2)
    flat = grad.reshape(batch, groups, outputs // groups, count)
    channels = weight.shape[1] * groups
    found = np.empty((batch, channels, *space), grad.dtype)

    def block(begin, end):
        if is_one_product(end - begin, count):
            columns = blas.matmul(matrices, joined_places(flat[begin:end]))
            columns = columns.reshape(channels, *geometry.kernel, end - begin, *places)
            found[begin:end] = from_joined_columns(columns, space, geometry)
            return
        columns = blas.matmul(matrices, flat[begin:end])
        if not geometry.is_pointwise():
            columns = columns.reshape(end - begin, channels, *geometry.kernel, *places)
            columns = from_columns(columns, space, geometry)
        found[begin:end] = columns.reshape(found[begin:end].shape)

    by_blocks(batch, count, matrices[0].shape[0] * groups, weight.size, block)
    return found


def weight_gradient(grad, x, weight_shape, geometry, groups):
    """The gradient of `convolve`'s weight, of shape `weight_shape`."""
    batch, outputs, *places = grad.shape
    count, length = math.prod(places), math.prod(weight_shape[1:])
    if is_direct(x.dtype, math.prod(weight_shape), geometry, batch * count):
        if direct.run_length(weight_shape, geometry) >= LONG_RUN:
            return direct.weight_gradient(grad, x, weight_shape, geometry, groups)
        if weight_shape[1] == 1 < groups:
            return thin_convolution.weight_gradient(grad, x, weight_shape, geometry)
    flat = grad.reshape(batch, groups, outputs // groups, count)
    parts = {}

    def block(begin, end):
        columns = joined_columns(x[begin:end], geometry, groups, places)
        parts[begin] = blas.matmul(columns, joined_places(flat[begin:end]).swapaxes(1, 2))

    by_blocks(batch, count, length * groups, outputs * length, block)
    found = np.zeros((groups, length, outputs // groups), grad.dtype)
    for begin in sorted(parts):  # whichever thread was first: sums of floats depend on their order
        found += parts[begin]
    return np.ascontiguousarray(found.swapaxes(1, 2)).reshape(weight_shape)


def is_direct(dtype, weights, geometry, places):
    """Whether the loops of direct_convolution serve; `places`: of all images."""
    is_matrix = max(geometry.kernel) == 1
    return not is_matrix and is_compiled(dtype) and weights * places >= LARGE


def is_one_product(images, count):
    return count < FEW_PLACES and images > 1


def by_blocks(batch, count, length, work, block):
    """Call block(begin, end) for ranges of images with about BLOCK elements of columns, several at once.

    count: places of an image; length, work: elements of columns and multiplications of one place."""
    step = max(1, BLOCK // max(count * length, 1), -(-PLACES // max(count, 1)))
    grain = -(-max(step, WORK // max(count * work, 1)) // step) * step

    def body(begin, end):
        for first in range(begin, end, step):
            block(first, min(first + step, end))

    with blas.one_thread:
        parallel_for(batch, grain, body)


def block_columns(x, geometry, groups, places):
    """The columns of some images, (images, groups, channels / groups * kernel, number of places)."""
    columns = np.ascontiguousarray(x) if geometry.is_pointwise() else to_columns(x, geometry, tuple(places))
    return columns.reshape(x.shape[0], groups, -1, math.prod(places))


def joined_columns(x, geometry, groups, places):
    """The columns of some images side by side, (groups, channels / groups * kernel, images * places)."""
    if geometry.is_pointwise():
        return joined_places(x.reshape(x.shape[0], groups, -1, math.prod(places)))
    columns = to_joined_columns(x, geometry, tuple(places))
    return columns.reshape(groups, x.shape[1] // groups * math.prod(geometry.kernel), -1)


def joined_places(images):
    """(groups, length, images * places) from (images, groups, length, places)."""
    count, groups, length, places = images.shape
    return images.transpose(1, 2, 0, 3).reshape(groups, length, count * places)
