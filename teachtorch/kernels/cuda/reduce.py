"""Reductions: each thread folds its elements, a block folds its threads in shared memory, then the blocks are
folded.

The input is seen as (outer, count, inner), and `count` is folded. Few long rows are shared by several blocks,
whose results a second launch folds; there is no barrier across blocks within one (Harris, "Optimizing
Parallel Reduction in CUDA", 2007). Floats are summed in their own dtype, as on PyTorch's GPU.
"""

import functools
from typing import NamedTuple

import numpy as np

from .. import scalar
from .grid import is_simulated, run_blocks, threads_per_block
from .source import DeviceTranslator, load_kernel

WORTH_A_BLOCK = 4  # elements per thread that make it worth to give a row another block
MOST_PARTS = 256

KERNEL = """
@cuda.jit
def kernel(out, x, {centre}count, inner, parts):
    shared = cuda.shared.array({threads}, types.{accumulator})
    row, part = cuda.blockIdx.x // parts, cuda.blockIdx.x % parts
    first = row // inner * count * inner + row % inner
    total = np.{accumulator}({start})
    for i in range(part * {threads} + cuda.threadIdx.x, count, parts * {threads}):
        total = {step}(total, {element})
    total = folded(shared, total)
    if cuda.threadIdx.x == 0:
        out[row * parts + part] = {result}
"""


def add(total, x):
    return total + x


def multiply(total, x):
    return total * x


def square(x):
    return x * x


def number_or_zero(x):
    return x if x == x else 0


def square_around(x, centre):
    return (x - centre) * (x - centre)


def power_below(x, centre):
    return scalar.exp(x - centre)


class Fold(NamedTuple):
    """One kind of fold: how two values become one, with what it starts, and what becomes of an element
    before.

    `before`: a one-element function, "nonzero" (1 or 0, of any dtype), or None. `centred`: `before` takes a
    second argument, the row's own.
    """

    merge: object
    start: str
    before: object = None
    centred: bool = False


FOLDS = {
    "sum": Fold(add, "0"),
    "prod": Fold(multiply, "1"),
    "amax": Fold(scalar.maximum, "lowest"),
    "amin": Fold(scalar.minimum, "highest"),
    "any": Fold(scalar.maximum, "0", "nonzero"),
    "all": Fold(scalar.minimum, "1", "nonzero"),
    "count_nonzero": Fold(add, "0", "nonzero"),
    "nansum": Fold(add, "0", number_or_zero),
    "squares": Fold(add, "0", square),
    "sizes": Fold(add, "0", abs),
    "largest size": Fold(scalar.maximum, "0", abs),
    "squares around": Fold(add, "0", square_around, centred=True),
    "powers below": Fold(add, "0", power_below, centred=True),
}


def start_of(start, dtype):
    """What a fold begins with, as text."""
    if start not in ("lowest", "highest"):
        return start
    if dtype.kind == "f":
        return "-np.inf" if start == "lowest" else "np.inf"
    largest = np.iinfo(dtype).max
    if start == "highest":
        return str(largest)
    return f"-{largest} - 1" if dtype.kind == "i" else "0"  # -2**63 alone is no int64: the sign comes later


def accumulator_of(name, dtype):
    """In which dtype to fold, for a result of `dtype`: truths are numbers until they are stored."""
    return np.dtype(np.int32) if dtype == np.bool_ else dtype


def run(name, out, x, outer, count, inner, scratch, stream=0, centre=None):
    """Fold the middle of x, which is flat and of shape (outer, count, inner), into `out`.

    Args:
        name: of FOLDS.
        out: a flat device array of outer * inner elements, of the dtype in which to fold, or of bool.
        scratch: a function (number of elements, dtype) -> flat device array.
        centre: a flat device array of outer * inner elements, for the folds that are `centred`.
    """
    rows, parts = outer * inner, parts_of(outer * inner, count)
    accumulator = accumulator_of(name, np.dtype(out.dtype))
    if parts == 1:
        fold(name, accumulator, out, x, rows, count, inner, 1, stream, centre)
        return
    partial = scratch(rows * parts, accumulator)
    fold(name, accumulator, partial, x, rows, count, inner, parts, stream, centre)
    fold(name, accumulator, out, partial, rows, parts, 1, 1, stream, is_last=True)


def parts_of(rows, count):
    """How many blocks share a row."""
    wanted = -(-count // (threads_per_block() * WORTH_A_BLOCK))
    most = 4 if is_simulated() else MOST_PARTS
    return max(1, min(wanted, most // max(rows, 1)))


def fold(name, accumulator, out, x, rows, count, inner, parts, stream, centre=None, is_last=False):
    """One launch. `is_last`: x holds what blocks have found, not elements."""
    kernel = compiled(name, accumulator, np.dtype(out.dtype) == np.bool_, is_last, threads_per_block())
    arrays = (out, x) if centre is None else (out, x, centre)
    run_blocks(kernel, rows * parts, stream, *arrays, np.int64(count), np.int64(inner), np.int64(parts))


@functools.cache
def compiled(name, accumulator, is_truth, is_last, threads):
    translator, kind = DeviceTranslator(accumulator), FOLDS[name]
    before, centred = (None, False) if is_last else (kind.before, kind.centred)
    fold_of_block = translator.block_fold("folded", kind.merge, threads)
    text = KERNEL.format(
        threads=threads,
        accumulator=accumulator,
        centre="centre, " if centred else "",
        step=translator.add(kind.merge, primitive=True),
        start=start_of(kind.start, accumulator),
        element=element(translator, before, centred),
        result="total != 0" if is_truth else "total",
    )
    return load_kernel(name.replace(" ", "_"), translator, fold_of_block, text)


def element(translator, before, centred):
    """The text of what an element adds to a fold."""
    raw = "x[first + i * inner]"
    if before == "nonzero":
        return f"np.{translator.dtype}(1 if {raw} != 0 else 0)"
    plain = f"np.{translator.dtype}({raw})"
    if before is None:
        return plain
    name = "abs" if before is abs else translator.add(before, primitive=True)
    return f"{name}({plain}, centre[row])" if centred else f"{name}({plain})"
