"""Softmax and log_softmax along the middle of (outer, count, inner): one block per row, three walks over it.

The row's maximum and the sum of exponentials stay in shared memory: the row is read three times and written
once, where operators one by one would read and write it eight times.
"""

import functools

import numpy as np

from .. import scalar
from .grid import run_blocks, threads_per_block
from .reduce import add
from .source import DeviceTranslator, load_kernel

FORWARD = """
@cuda.jit
def kernel(out, x, count, inner):
    shared = cuda.shared.array({threads}, types.{dtype})
    row = cuda.blockIdx.x
    first = row // inner * count * inner + row % inner
    largest = np.{dtype}(-np.inf)
    for i in range(cuda.threadIdx.x, count, {threads}):
        largest = {maximum}(largest, x[first + i * inner])
    largest = block_maximum(shared, largest)
    total = np.{dtype}(0)
    for i in range(cuda.threadIdx.x, count, {threads}):
        total += {exp}(x[first + i * inner] - largest)
    total = block_sum(shared, total)
    {shift}
    for i in range(cuda.threadIdx.x, count, {threads}):
        value = x[first + i * inner] - largest
        out[first + i * inner] = {result}
"""

BACKWARD = """
@cuda.jit
def kernel(out, grad, result, count, inner):
    shared = cuda.shared.array({threads}, types.{dtype})
    row = cuda.blockIdx.x
    first = row // inner * count * inner + row % inner
    total = np.{dtype}(0)
    for i in range(cuda.threadIdx.x, count, {threads}):
        place = first + i * inner
        total += {term}
    total = block_sum(shared, total)
    for i in range(cuda.threadIdx.x, count, {threads}):
        place = first + i * inner
        out[place] = {slope}
"""


def forward(out, x, outer, count, inner, is_log, stream=0):
    """Fill `out` with the softmax of x, or its logarithm; both are flat device arrays."""
    kernel = compiled_forward(np.dtype(x.dtype), is_log, threads_per_block())
    run_blocks(kernel, outer * inner, stream, out, x, np.int64(count), np.int64(inner))


def backward(out, grad, result, outer, count, inner, is_log, stream=0):
    """Fill `out` with the gradient of the input, from the result's gradient and the result."""
    kernel = compiled_backward(np.dtype(grad.dtype), is_log, threads_per_block())
    run_blocks(kernel, outer * inner, stream, out, grad, result, np.int64(count), np.int64(inner))


@functools.cache
def compiled_forward(dtype, is_log, threads):
    translator = DeviceTranslator(dtype)
    names = {f.__name__: translator.add(f, primitive=True) for f in (scalar.exp, scalar.log, scalar.maximum)}
    folds = [
        translator.block_fold("block_maximum", scalar.maximum, threads),
        translator.block_fold("block_sum", add, threads),
    ]
    text = FORWARD.format(
        threads=threads,
        dtype=dtype,
        exp=names["exp"],
        maximum=names["maximum"],
        shift=f"total = {names['log']}(total)" if is_log else f"total = np.{dtype}(1) / total",
        result="value - total" if is_log else f"{names['exp']}(value) * total",
    )
    return load_kernel("softmax", translator, *folds, text)


@functools.cache
def compiled_backward(dtype, is_log, threads):
    translator = DeviceTranslator(dtype)
    exp = translator.add(scalar.exp, primitive=True)
    fold = translator.block_fold("block_sum", add, threads)
    text = BACKWARD.format(
        threads=threads,
        dtype=dtype,
        term="grad[place]" if is_log else "grad[place] * result[place]",
        slope=f"grad[place] - {exp}(result[place]) * total"
        if is_log
        else "(grad[place] - total) * result[place]",
    )
    return load_kernel("softmax_backward", translator, fold, text)
