"""Running sums, products and extremes along the middle of (outer, count, inner): one block per row.

A block takes as many elements as it has threads. In log2(threads) rounds each thread merges what lies 1, 2,
4, ... places before it (Hillis and Steele, "Data Parallel Algorithms", 1986); what came out last is carried
into the next piece.
"""

import functools

import numpy as np

from .. import scalar
from .grid import run_blocks, threads_per_block
from .reduce import add, multiply
from .source import DeviceTranslator, load_kernel, type_name

# Every thread of the block makes every round, also those beyond the row's end: all come to the barriers.
SCAN = """
@cuda.jit
def kernel(out, x, count, inner):
    shared = cuda.shared.array({threads}, types.{dtype})
    thread = cuda.threadIdx.x
    first = cuda.blockIdx.x // inner * count * inner + cuda.blockIdx.x % inner
    carried = np.{dtype}({start})
    for begin in range(0, count, {threads}):
        i = begin + thread
        shared[thread] = np.{dtype}(x[first + i * inner]) if i < count else np.{dtype}({start})
        cuda.syncthreads()
        distance = 1
        while distance < {threads}:
            before = shared[thread - distance] if thread >= distance else np.{dtype}({start})
            cuda.syncthreads()
            shared[thread] = {merge}(before, shared[thread])
            cuda.syncthreads()
            distance *= 2
        if i < count:
            out[first + i * inner] = {merge}(carried, shared[thread])
        carried = {merge}(carried, shared[{threads} - 1])
        cuda.syncthreads()
"""

EXTREMES = """
@cuda.jit(device=True)
def replaces(later, earlier):
    return earlier == earlier and (later != later or later {sign}= earlier)


@cuda.jit
def kernel(values, places, x, count, inner):
    shared = cuda.shared.array({threads}, types.{dtype})
    where = cuda.shared.array({threads}, types.int64)
    thread = cuda.threadIdx.x
    first = cuda.blockIdx.x // inner * count * inner + cuda.blockIdx.x % inner
    carried, carried_place = x[first], 0
    for begin in range(0, count, {threads}):
        i = begin + thread
        at = min(i, count - 1)
        shared[thread] = x[first + at * inner]
        where[thread] = at
        cuda.syncthreads()
        distance = 1
        while distance < {threads}:
            source = max(thread - distance, 0)
            before, place = shared[source], where[source]
            cuda.syncthreads()
            if thread >= distance and not replaces(shared[thread], before):
                shared[thread] = before
                where[thread] = place
            cuda.syncthreads()
            distance *= 2
        best, place = shared[thread], where[thread]
        if not replaces(best, carried):
            best, place = carried, carried_place
        if i < count:
            values[first + i * inner] = best
            places[first + i * inner] = place
        if replaces(shared[{threads} - 1], carried):
            carried, carried_place = shared[{threads} - 1], where[{threads} - 1]
        cuda.syncthreads()
"""


def log_of_sum(x, y):
    """log(exp(x) + exp(y)), without overflow."""
    high, low = scalar.maximum(x, y), scalar.minimum(x, y)
    return high if low == high and abs(high) == np.inf else high + scalar.log1p(scalar.exp(low - high))


MERGES = {"cumsum": (add, "0"), "cumprod": (multiply, "1"), "logcumsumexp": (log_of_sum, "-np.inf")}


def run(name, out, x, outer, count, inner, stream=0):
    """Fill `out` with the running fold of x: cumsum, cumprod or logcumsumexp. Both are flat device arrays."""
    kernel = compiled(name, np.dtype(out.dtype), threads_per_block())
    run_blocks(kernel, outer * inner, stream, out, x, np.int64(count), np.int64(inner))


def extremes(largest, values, places, x, outer, count, inner, stream=0):
    """Fill `values` with the running maximum (or minimum) of x, and `places` with where in its row it is.

    Of equal ones it is the last, as in PyTorch; the first NaN stays.
    """
    kernel = compiled_extremes(largest, np.dtype(x.dtype), threads_per_block())
    run_blocks(kernel, outer * inner, stream, values, places, x, np.int64(count), np.int64(inner))


@functools.cache
def compiled(name, dtype, threads):
    translator, (merge, start) = DeviceTranslator(dtype), MERGES[name]
    name_of_merge = translator.add(merge, primitive=True)
    return load_kernel(
        name, translator, SCAN.format(threads=threads, dtype=dtype, start=start, merge=name_of_merge)
    )


@functools.cache
def compiled_extremes(largest, dtype, threads):
    text = EXTREMES.format(sign=">" if largest else "<", threads=threads, dtype=type_name(dtype))
    return load_kernel("running_extremes", DeviceTranslator(dtype), text)
