"""Sparse matrices and tensors in coordinate form, as arrays.

    indices  (sparse dims, entries), int64     the place of each entry
    values   (entries, *dense dims)            what is there

A place becomes one number, its position in row-major order (`positions`); entries are sorted, matched and added by it.
"""
import functools

import numpy as np

from .cache import load_module
from .rows import add_rows

# From this many entries on a compiled loop is worth loading.
LARGE = 1 << 13

_LOOPS = '''"""Loops over the entries of sparse tensors."""
from numba import njit


@njit(cache=True, nogil=True)
def merge(left, right, sources):
    """sources[k] = (entry of left or -1, entry of right or -1); the number of results."""
    i, j, count = 0, 0, 0
    while i < left.size or j < right.size:
        take_left = j >= right.size or (i < left.size and left[i] <= right[j])
        take_right = i >= left.size or (j < right.size and right[j] <= left[i])
        sources[count, 0] = i if take_left else -1
        sources[count, 1] = j if take_right else -1
        i += take_left
        j += take_right
        count += 1
    return count


@njit(cache=True, nogil=True)
def multiply(rows, columns, values, matrix, out):
    for k in range(rows.size):
        row, column, value = rows[k], columns[k], values[k]
        for j in range(out.shape[1]):
            out[row, j] += value * matrix[column, j]
'''
_COMPILED = frozenset(np.dtype(name) for name in ("int32", "int64", "float32", "float64"))


@functools.cache
def _loops():
    return load_module("sparse_loops", _LOOPS)


# ---- places ------------------------------------------------------------------------------------------------

def positions(indices, sizes):
    """Each entry's place as one number: its position in a dense tensor of these sizes, in row-major order."""
    found = np.zeros(indices.shape[1], np.int64)
    for row, size in zip(indices, sizes):
        found = found * size + row
    return found


def first_outside(indices, sizes):
    """(dim, index) of an index that is no index of its dimension; None if all are."""
    if not indices.shape[1]:
        return None
    for dim, (row, size) in enumerate(zip(indices, sizes)):
        low, high = row.min(), row.max()
        if low < 0 or high >= size:
            return dim, int(low if low < 0 else high)
    return None


def is_ascending(places):
    """Whether places ascend strictly: sorted, and none twice."""
    return bool((places[1:] > places[:-1]).all())


# ---- coalescing --------------------------------------------------------------------------------------------

def coalesced(indices, values, sizes):
    """(indices, values) with ascending places, each once; values at one place are added in the order of the entries."""
    count = indices.shape[1]
    places = positions(indices, sizes)
    if is_ascending(places):
        return indices.copy(), values.copy()
    order = places.argsort(kind="stable")
    places = places[order]
    is_first = np.ones(count, bool)
    is_first[1:] = places[1:] != places[:-1]
    return indices[:, order[is_first]], added(values[order], is_first.cumsum() - 1, int(is_first.sum()))


def added(values, groups, count):
    """The sums of the values by group: (count, *dense dims)."""
    found = np.zeros((count, *values.shape[1:]), values.dtype)
    if values.size:
        add_rows(found.reshape(count, -1), groups, np.ascontiguousarray(values).reshape(values.shape[0], -1))
    return found


def dense(indices, values, sizes):
    """The dense array of shape (*sizes, *dense dims)."""
    count = int(np.prod(sizes, dtype=np.int64))
    return added(values, positions(indices, sizes), count).reshape((*sizes, *values.shape[1:]))


# ---- two tensors -------------------------------------------------------------------------------------------

def merged(left, right):
    """How two lists of places are merged, as PyTorch merges them: walk both, take the smaller one, both if they are equal.

    Returns (entries of left, entries of right), -1 where a result has none. Sorted lists give a sorted result; of
    others the order shows how the walk went.
    """
    if left.size + right.size >= LARGE:
        sources = np.empty((left.size + right.size, 2), np.int64)
        return sources[:_loops().merge(left, right, sources)].T
    return np.array(_walk(left.tolist(), right.tolist()), np.int64).reshape(-1, 2).T


def _walk(left, right):
    found, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        take_left, take_right = left[i] <= right[j], right[j] <= left[i]
        found.append((i if take_left else -1, j if take_right else -1))
        i, j = i + take_left, j + take_right
    return found + [(k, -1) for k in range(i, len(left))] + [(-1, k) for k in range(j, len(right))]


def sum_of(left, right, left_places, right_places):
    """The entries of left + right. `left`, `right`: (indices, values) of one dtype."""
    from_left, from_right = merged(left_places, right_places)
    has_left, has_right = from_left >= 0, from_right >= 0
    indices = np.empty((left[0].shape[0], from_left.size), np.int64)
    indices[:, has_right] = right[0][:, from_right[has_right]]
    indices[:, has_left] = left[0][:, from_left[has_left]]
    values = np.zeros((from_left.size, *left[1].shape[1:]), left[1].dtype)
    values[has_left] = left[1][from_left[has_left]]
    values[has_right] += right[1][from_right[has_right]]
    return indices, values


def matches(places, others):
    """All pairs (i, j) with places[i] == others[j], by ascending i; `others` need not be sorted."""
    order = others.argsort(kind="stable")
    ordered = others[order]
    first, last = ordered.searchsorted(places, "left"), ordered.searchsorted(places, "right")
    counts = last - first
    i = np.repeat(np.arange(places.size), counts)
    within = np.arange(i.size) - np.repeat(counts.cumsum() - counts, counts)
    return i, order[np.repeat(first, counts) + within]


# ---- products ----------------------------------------------------------------------------------------------

def add_product(out, indices, values, matrix):
    """out += (a sparse matrix) @ (a dense matrix): out (rows, p), matrix (columns, p)."""
    if values.size * matrix.shape[1] >= LARGE and values.dtype in _COMPILED:
        _loops().multiply(indices[0], indices[1], values, matrix, out)
    elif values.size and out.size:
        add_rows(out, indices[0], values[:, None] * matrix[indices[1]])


def sparse_product(left, right, shape):
    """(indices, values) of the product of two coalesced sparse matrices, coalesced; `shape`: of the result."""
    i, j = matches(left[0][1], right[0][0])
    indices = np.stack([left[0][0][i], right[0][1][j]])
    return coalesced(indices, left[1][i] * right[1][j], shape)


def add_into(array, indices, values, sizes):
    """Add the entries into a contiguous dense array of shape (*sizes, *dense dims)."""
    if values.size:
        flat = np.ascontiguousarray(values).reshape(values.shape[0], -1)
        add_rows(array.reshape(-1, flat.shape[1]), positions(indices, sizes), flat)
