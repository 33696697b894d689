"""Layer norm and batch norm: means and variances by a block, then one walk that normalises.

Variances are taken around the mean (two walks), as kernels/normalization.py does: a difference of large sums
of squares would lose the digits that matter.
"""

import functools

import numpy as np

from .grid import run_blocks, run_flat, threads_per_block
from .reduce import add
from .source import DeviceTranslator, load_kernel

# Element i of group g lies at (i // length * groups + g) * length + i % length: of layer norm's rows with
# groups = rows and length = count, of batch norm's channels with groups = channels and length = places per
# image.
STATISTICS = """
@cuda.jit
def kernel(means, variances, x, count, groups, length):
    shared = cuda.shared.array({threads}, types.{dtype})
    group = cuda.blockIdx.x
    total = np.{dtype}(0)
    for i in range(cuda.threadIdx.x, count, {threads}):
        total += x[(i // length * groups + group) * length + i % length]
    mean = block_sum(shared, total) / np.{dtype}(count)
    total = np.{dtype}(0)
    for i in range(cuda.threadIdx.x, count, {threads}):
        difference = x[(i // length * groups + group) * length + i % length] - mean
        total += difference * difference
    variance = block_sum(shared, total) / np.{dtype}(count)
    if cuda.threadIdx.x == 0:
        means[group], variances[group] = mean, variance
"""

# `group` says which mean belongs to an element, `part` which weight.
NORMALIZE = """
@cuda.jit
def kernel(out, x, means, rstds, weight, bias, size, length, groups):
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        group = i // length % groups
        part = {part}
        out[i] = (x[i] - means[group]) * rstds[group] * weight[part] + bias[part]
"""

ROWS_GRADIENT = """
@cuda.jit
def kernel(out, grad, x, means, rstds, weight, count):
    shared = cuda.shared.array({threads}, types.{dtype})
    row = cuda.blockIdx.x
    first, mean, rstd = row * count, means[row], rstds[row]
    total, along = np.{dtype}(0), np.{dtype}(0)
    for i in range(cuda.threadIdx.x, count, {threads}):
        slope = grad[first + i] * weight[i]
        total += slope
        along += slope * (x[first + i] - mean) * rstd
    total = block_sum(shared, total) / np.{dtype}(count)
    along = block_sum(shared, along) / np.{dtype}(count)
    for i in range(cuda.threadIdx.x, count, {threads}):
        slope = grad[first + i] * weight[i]
        out[first + i] = rstd * (slope - total - (x[first + i] - mean) * rstd * along)
"""

COLUMNS_GRADIENT = """
@cuda.jit
def kernel(weight_grad, bias_grad, grad, x, means, rstds, rows, count):
    shared = cuda.shared.array({threads}, types.{dtype})
    column = cuda.blockIdx.x
    total, along = np.{dtype}(0), np.{dtype}(0)
    for row in range(cuda.threadIdx.x, rows, {threads}):
        place = row * count + column
        total += grad[place]
        along += grad[place] * (x[place] - means[row]) * rstds[row]
    total = block_sum(shared, total)
    along = block_sum(shared, along)
    if cuda.threadIdx.x == 0:
        weight_grad[column], bias_grad[column] = along, total
"""


def row_statistics(means, variances, x, rows, count, stream=0):
    """The mean and the biased variance of each row of x, which is flat and of shape (rows, count)."""
    kernel = with_block_sum(STATISTICS, "statistics", np.dtype(x.dtype), threads_per_block())
    run_blocks(kernel, rows, stream, means, variances, x, np.int64(count), np.int64(rows), np.int64(count))


def channel_statistics(means, variances, x, batch, channels, length, stream=0):
    """The mean and the biased variance of each channel of x, which is flat and of shape (batch, channels, length)."""
    kernel = with_block_sum(STATISTICS, "statistics", np.dtype(x.dtype), threads_per_block())
    numbers = np.int64(batch * length), np.int64(channels), np.int64(length)
    run_blocks(kernel, channels, stream, means, variances, x, *numbers)


def normalize_rows(out, x, means, rstds, weight, bias, rows, count, stream=0):
    """(x - mean) * rstd * weight + bias, weight and bias by the place in the row."""
    kernel = flat("i % length", np.dtype(x.dtype))
    numbers = np.int64(rows * count), np.int64(count), np.int64(rows)
    run_flat(kernel, rows * count, stream, out, x, means, rstds, weight, bias, *numbers)


def normalize_channels(out, x, means, rstds, weight, bias, batch, channels, length, stream=0):
    """(x - mean) * rstd * weight + bias, all by the channel."""
    kernel, size = flat("group", np.dtype(x.dtype)), batch * channels * length
    numbers = np.int64(size), np.int64(length), np.int64(channels)
    run_flat(kernel, size, stream, out, x, means, rstds, weight, bias, *numbers)


def rows_gradient(out, weight_grad, bias_grad, grad, x, means, rstds, weight, rows, count, stream=0):
    """The gradients of layer norm's input, weight and bias."""
    dtype, threads = np.dtype(x.dtype), threads_per_block()
    kernel = with_block_sum(ROWS_GRADIENT, "rows_gradient", dtype, threads)
    run_blocks(kernel, rows, stream, out, grad, x, means, rstds, weight, np.int64(count))
    kernel = with_block_sum(COLUMNS_GRADIENT, "columns_gradient", dtype, threads)
    run_blocks(
        kernel, count, stream, weight_grad, bias_grad, grad, x, means, rstds, np.int64(rows), np.int64(count)
    )


@functools.cache
def with_block_sum(text, title, dtype, threads):
    translator = DeviceTranslator(dtype)
    fold = translator.block_fold("block_sum", add, threads)
    return load_kernel(title, translator, fold, text.format(threads=threads, dtype=dtype))


@functools.cache
def flat(part, dtype):
    return load_kernel("normalize", DeviceTranslator(dtype), NORMALIZE.format(part=part))
