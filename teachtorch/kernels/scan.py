"""Running sums along a dimension, compiled, for large arrays; NumPy's take three times as long.

Floats are added up in float64, as PyTorch does it on the CPU, and each sum is rounded once.
"""

import functools

import numpy as np

from .cache import load_module
from .parallel import parallel_for
from .pointwise import SMALL

COLUMNS = 512  # columns that are added up together: their sums stay in the first-level cache
GRAIN = 1 << 15  # elements that are worth a thread

TEXT = '''"""Running sums of the middle dimension of (outer, rows, columns)."""
import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def along_rows(x, out, begin, end):
    """Of one column: every sum waits for the one before."""
    for i in range(begin, end):
        source, target, total = x[i, :, 0], out[i, :, 0], 0.0
        for j in range(source.size):
            total += source[j]
            target[j] = total


@njit(cache=True, nogil=True, error_model="numpy")
def along_columns(x, out, parts, width, begin, end):
    """Task t: the columns of part t % parts of matrix t // parts, `width` in a part."""
    totals = np.empty(width, np.float64)
    for task in range(begin, end):
        first = task % parts * width
        last = min(first + width, x.shape[2])
        totals[:] = 0.0
        for j in range(x.shape[1]):
            source, target = x[task // parts, j, first:last], out[task // parts, j, first:last]
            for k in range(source.size):
                totals[k] += source[k]
                target[k] = totals[k]
'''


@functools.lru_cache(maxsize=None)
def _loops():
    return load_module("running_sums", TEXT)


def is_compiled(x):
    return x.size > SMALL and x.dtype.char in "fd"


def cumsum(x, axis):
    """The running sums of a large array of float32 or float64 (`is_compiled`) along an axis, contiguous."""
    outer, rows, columns = int(np.prod(x.shape[:axis])), x.shape[axis], int(np.prod(x.shape[axis + 1 :]))
    source = np.ascontiguousarray(x).reshape(outer, rows, columns)
    out = np.empty(x.shape, x.dtype)
    target = out.reshape(source.shape)
    if columns == 1:
        run, tasks, each = functools.partial(_loops().along_rows, source, target), outer, rows
    else:
        width = min(columns, COLUMNS)
        parts = -(-columns // width)
        run = functools.partial(_loops().along_columns, source, target, parts, width)
        tasks, each = outer * parts, rows * width
    parallel_for(tasks, max(1, GRAIN // each), run)
    return out
