"""Reductions: each thread folds its elements, a block folds its threads in shared memory, then the blocks are
folded.

The input is seen as (outer, count, inner), and `count` is folded. Few long rows are shared by several blocks,
whose results a second launch folds; there is no barrier across blocks within one (Harris, "Optimizing
Parallel Reduction in CUDA", 2007). Floats are summed in their own dtype, as on PyTorch's GPU.
"""

import functools

import numpy as np

from .. import scalar
from .grid import is_simulated, run_blocks, threads_per_block
from .source import DeviceTranslator, load_kernel

WORTH_A_BLOCK = 4  # elements per thread that make it worth to give a row another block
MOST_PARTS = 256

KERNEL = """
@cuda.jit
def kernel(out, x, count, inner, parts):
    shared = cuda.shared.array({threads}, types.{accumulator})
    row, part = cuda.blockIdx.x // parts, cuda.blockIdx.x % parts
    first = row // inner * count * inner + row % inner
    total = np.{accumulator}({start})
    for i in range(part * {threads} + cuda.threadIdx.x, count, parts * {threads}):
        total = {step}(total, np.{accumulator}(x[first + i * inner]))
    total = folded(shared, total)
    if cuda.threadIdx.x == 0:
        out[row * parts + part] = total
"""


def add(total, x):
    return total + x


def multiply(total, x):
    return total * x


FOLDS = {"sum": add, "prod": multiply, "amax": scalar.maximum, "amin": scalar.minimum}


def start_of(name, dtype):
    """What a fold begins with, as text."""
    if name in ("sum", "prod"):
        return "0" if name == "sum" else "1"
    if dtype.kind == "f":
        return "-np.inf" if name == "amax" else "np.inf"
    limits = np.iinfo(dtype)
    return str(limits.min if name == "amax" else limits.max)


def run(name, out, x, outer, count, inner, scratch, stream=0):
    """Fold the middle of x, which is flat and of shape (outer, count, inner), into `out`.

    Args:
        name: sum, prod, amax or amin.
        out: a flat device array of outer * inner elements, of the dtype in which to fold.
        scratch: a function (number of elements) -> flat device array of out's dtype.
    """
    rows, parts = outer * inner, parts_of(outer * inner, count)
    if parts == 1:
        fold(name, out, x, rows, count, inner, 1, stream)
        return
    partial = scratch(rows * parts)
    fold(name, partial, x, rows, count, inner, parts, stream)
    fold(name, out, partial, rows, parts, 1, 1, stream)


def parts_of(rows, count):
    """How many blocks share a row."""
    wanted = -(-count // (threads_per_block() * WORTH_A_BLOCK))
    most = 4 if is_simulated() else MOST_PARTS
    return max(1, min(wanted, most // max(rows, 1)))


def fold(name, out, x, rows, count, inner, parts, stream):
    kernel = compiled(name, np.dtype(out.dtype), threads_per_block())
    run_blocks(kernel, rows * parts, stream, out, x, np.int64(count), np.int64(inner), np.int64(parts))


@functools.lru_cache(maxsize=None)
def compiled(name, accumulator, threads):
    translator = DeviceTranslator(accumulator)
    fold_of_block = translator.block_fold("folded", FOLDS[name], threads)
    step = translator.add(FOLDS[name], primitive=True)
    text = KERNEL.format(
        threads=threads, accumulator=accumulator, step=step, start=start_of(name, accumulator)
    )
    return load_kernel(name, translator, fold_of_block, text)
