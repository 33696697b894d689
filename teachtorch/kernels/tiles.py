"""The innermost loop of direct convolutions: a tile of sums that stays in registers.

A tile is `rows` rows of `vectors` vectors. Step k loads the vectors once, multiplies them with one weight per
row and adds: rows + vectors values are read for rows * vectors vector operations, so that the processor
computes instead of waiting for memory. K. Goto, R. van de Geijn, "Anatomy of high-performance matrix multiplication"
(2008), has the idea for matrices; here vector k starts wherever `offsets[k]` says.
"""

import functools

__all__ = ["SINGLE_VECTORS", "header", "shape", "tile"]

SINGLE_VECTORS = 8  # of a tile of one row: enough sums for a processor to have one ready at any time


@functools.lru_cache(maxsize=None)
def shape(itemsize):
    """(rows, vectors, lanes) of a tile that fits this processor's registers; itemsize: bytes of a number.

    The rows are a power of two, as numbers of channels often are; three vectors, since most kernels are three elements
    wide."""
    from . import simd  # imports Numba, which takes a second

    return 8 if simd.registers() == 32 else 4, 3, simd.register_bytes() // itemsize


def header(rows, vectors, lanes):
    """The first lines of a module that uses tiles."""
    from . import simd

    return f'''"""Direct convolutions. Vectors: {simd.VERSION}"""
import numpy as np
from numba import njit, types
from teachtorch.kernels.simd import every_second, interleaved, load, multiply_add, part, splat, store

ROWS, LANES, WIDE, SINGLE = {rows}, {lanes}, {vectors * lanes}, {SINGLE_VECTORS * lanes}


'''


def tile(name, rows, vectors, lanes):
    """The text of name(x, base, offsets, count, weight, first, sums, at, apart).

    It adds, for k < count and r < rows, weight[first + k * rows + r] * x[base + offsets[k] + i] to
    sums[at + r * apart + i], for each i of the tile's vectors.
    """
    every = [(r, v) for r in range(rows) for v in range(vectors)]
    lines = ['@njit(nogil=True, error_model="numpy")']
    lines += [f"def {name}(x, base, offsets, count, weight, first, sums, at, apart):"]
    lines += [f"    s{r}_{v} = load(sums, at + {r} * apart + {v * lanes}, {lanes})" for r, v in every]
    lines += ["    for k in range(count):", "        place = base + offsets[k]"]
    lines += [f"        x{v} = load(x, place + {v * lanes}, {lanes})" for v in range(vectors)]
    for r in range(rows):
        lines += [f"        w = splat(weight[first + k * {rows} + {r}], {lanes})"]
        lines += [f"        s{r}_{v} = multiply_add(w, x{v}, s{r}_{v})" for v in range(vectors)]
    lines += [f"    store(sums, at + {r} * apart + {v * lanes}, s{r}_{v})" for r, v in every]
    return "\n".join(lines) + "\n\n\n"
