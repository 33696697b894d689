"""Means and squares around them, in one pass over memory.

A variance takes two looks at each element: the mean first, then how far it is from there. Blocks that stay in a cache
take both looks at once, around their own mean, and are merged afterwards: the squares of two parts around the
common mean are the sum of theirs and of the squares by which their means moved (Chan, Golub and LeVeque 1983).
"""

import functools

import numpy as np

from .cache import load_module
from .parallel import parallel_for

__all__ = ["block_moments", "merged"]

BLOCK = 1 << 12  # elements of one column in a block
ROWS = 64  # rows of many columns in a block, or of each lane of a few
COLUMNS = 1 << 11  # columns of one task
LANES = 128  # rows of few columns lie side by side up to this many lanes
GRAIN = 1 << 17  # elements that are worth a thread

_LOOPS = '''"""Means of blocks, and the sums of squares around them."""
from numba import njit
import numpy as np

FAST = {"contract", "reassoc", "nsz"}


@njit(fastmath=FAST, error_model="numpy")
def total(values):
    found = values.dtype.type(0)
    for i in range(values.size):
        found += values[i]
    return found


@njit(fastmath=FAST, error_model="numpy")
def around(values, middle):
    """The sum of the distances from `middle`, and of their squares."""
    apart, squares = values.dtype.type(0), values.dtype.type(0)
    for i in range(values.size):
        distance = values[i] - middle
        apart += distance
        squares += distance * distance
    return apart, squares


@njit(error_model="numpy")
def exact(middle, apart, squares, count):
    """What a block's mean and squares are, as `middle` was rounded: the distances from it do not add up to 0."""
    apart, count = np.float64(apart), np.float64(count)
    return middle + apart / count, squares - apart * apart / count


@njit(error_model="numpy")
def lanes_of(x, rows, inner, groups, size):
    """Four rows of numbers, one for each of `size` lanes: count, middle, sum of distances, sum of squares."""
    found = np.zeros((4, size), x.dtype)
    counts, middle, apart, squares = found[0], found[1], found[2], found[3]
    for first in range(0, rows, groups):
        line = x[first * inner:first * inner + min(size, (rows - first) * inner)]
        for j in range(line.size):
            counts[j] += x.dtype.type(1)
            middle[j] += line[j]
    for j in range(size):
        middle[j] /= counts[j]
    for first in range(0, rows, groups):
        line = x[first * inner:first * inner + min(size, (rows - first) * inner)]
        for j in range(line.size):
            distance = line[j] - middle[j]
            apart[j] += distance
            squares[j] += distance * distance
    return found


@njit(error_model="numpy")
def column_moments(x, means, squares, rows, inner, groups):
    """Of each column of rows that lie `inner` elements apart, `groups` of them taken as one wide row."""
    found = lanes_of(x, rows, inner, groups, groups * means.size)
    for j in range(means.size):
        count, means[j], squares[j] = np.float64(0), 0, 0
        for lane in range(j, found.shape[1], means.size):
            more = np.float64(found[0, lane])
            mean, square = exact(found[1, lane], found[2, lane], found[3, lane], more)
            moved = mean - means[j]
            count += more
            means[j] += moved * (more / count)
            squares[j] += square + moved * moved * (more - more * more / count)


@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, means, squares, rows, inner, block, columns, groups, begin, end):
    """x: flat (outer, rows, inner); the results: flat (outer, blocks, inner)."""
    blocks, parts = (rows + block - 1) // block, (inner + columns - 1) // columns
    for task in range(begin, end):
        k, column = task // parts, task % parts * columns
        outer, first = k // blocks, k % blocks * block
        count = min(block, rows - first)
        values = x[(outer * rows + first) * inner + column:]
        place = k * inner + column
        if inner == 1:
            middle = total(values[:count]) / x.dtype.type(count)
            apart, squared = around(values[:count], middle)
            means[place], squares[place] = exact(middle, apart, squared, count)
        else:
            last = min(place + columns, (k + 1) * inner)
            column_moments(values, means[place:last], squares[place:last], count, inner, groups)
'''


@functools.lru_cache(maxsize=None)
def _kernel():
    return load_module("moments", _LOOPS).kernel


def block_moments(x, shape):
    """(counts, means, squares) of blocks of rows of flat ``x``, in truth (outer, rows, inner).

    The counts are (blocks, 1), the means and the sums of squares around them (outer, blocks, inner), float64.
    """
    outer, rows, inner = shape
    groups = max(1, min(LANES // inner, rows // 4)) if inner > 1 else 1
    block = BLOCK if inner == 1 else ROWS * groups
    counts = np.minimum(block, rows - np.arange(0, rows, block)).reshape(-1, 1)
    means, squares = np.empty((2, outer, len(counts), inner))
    columns = min(inner, COLUMNS)
    body = functools.partial(_kernel(), x, means.reshape(-1), squares.reshape(-1), rows, inner, block, columns, groups)
    parallel_for(outer * len(counts) * -(-inner // columns), max(GRAIN // (min(block, rows) * columns), 1), body)
    return counts, means, squares


def merged(counts, means, squares, axes):
    """The sum of squares of all blocks along ``axes`` around their common mean. ``counts`` broadcasts to the means."""
    counts = np.broadcast_to(counts, means.shape)
    middle = (counts * means).sum(axes, keepdims=True) / counts.sum(axes, keepdims=True)
    return (squares + counts * (means - middle) ** 2).sum(axes)
