"""Where the largest or the smallest element of a row is: a fold of pairs (value, place).

As PyTorch has it, NaN is beyond every number, and of equal values the first one wins, whichever thread met
it.
"""

import functools

import numpy as np

from .grid import run_blocks, threads_per_block
from .reduce import parts_of
from .source import DeviceTranslator, load_kernel, type_name

# Each thread walks upwards, so that its own first one stays; between threads the smaller place decides.
KERNEL = """
@cuda.jit(device=True)
def is_before(value, place, other, other_place):
    if value {sign} other or value != value and other == other:
        return True
    if other {sign} value or other != other and value == value:
        return False
    return place < other_place


@cuda.jit
def kernel(values, places, x, known, count, inner, parts):
    shared = cuda.shared.array({threads}, types.{dtype})
    where = cuda.shared.array({threads}, types.int64)
    thread = cuda.threadIdx.x
    row, part = cuda.blockIdx.x // parts, cuda.blockIdx.x % parts
    first = row // inner * count * inner + row % inner
    best, place = x[first], {first_place}
    for i in range(part * {threads} + thread, count, parts * {threads}):
        if is_before(x[first + i * inner], {place}, best, place):
            best, place = x[first + i * inner], {place}
    shared[thread] = best
    where[thread] = place
    cuda.syncthreads()
    half = {threads} // 2
    while half > 0:
        if thread < half:
            if is_before(shared[thread + half], where[thread + half], shared[thread], where[thread]):
                shared[thread] = shared[thread + half]
                where[thread] = where[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        values[row * parts + part] = shared[0]
        places[row * parts + part] = where[0]
"""


def run(largest, values, places, x, outer, count, inner, scratch, stream=0):
    """Put the extreme value of the middle of x into `values`, and where in its row it is into `places`.

    Args:
        largest: whether the maximum is asked for.
        values, places: flat device arrays of outer * inner elements, of x's dtype and of int64.
        x: a flat device array of (outer, count, inner), count > 0.
        scratch: a function (number of elements, dtype) -> flat device array.
    """
    rows, dtype = outer * inner, np.dtype(x.dtype)
    parts = parts_of(rows, count)
    if parts == 1:
        launch(largest, dtype, False, values, places, x, places, rows, count, inner, 1, stream)
        return
    found, at = scratch(rows * parts, dtype), scratch(rows * parts, np.dtype(np.int64))
    launch(largest, dtype, False, found, at, x, at, rows, count, inner, parts, stream)
    launch(largest, dtype, True, values, places, found, at, rows, parts, 1, 1, stream)


def launch(largest, dtype, is_known, values, places, x, known, rows, count, inner, parts, stream):
    kernel = compiled(largest, dtype, is_known, threads_per_block())
    numbers = np.int64(count), np.int64(inner), np.int64(parts)
    run_blocks(kernel, rows * parts, stream, values, places, x, known, *numbers)


@functools.cache
def compiled(largest, dtype, is_known, threads):
    """`is_known`: the elements' places stand in `known`, they are those that blocks have found."""
    text = KERNEL.format(
        sign=">" if largest else "<",
        threads=threads,
        dtype=type_name(dtype),
        first_place="known[first]" if is_known else "0",
        place="known[first + i * inner]" if is_known else "i",
    )
    return load_kernel("extremes", DeviceTranslator(dtype), text)
