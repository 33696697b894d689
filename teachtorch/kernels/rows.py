"""Picking and adding by index: `out[picks] += source` with every repeat added, bounds, and where results lie.

`picks` is NumPy's form of an advanced index: a tuple of integer arrays and full slices, one per dimension.
"""

import functools

import numpy as np

from .cache import load_module

# From this many elements on a compiled loop is worth loading.
LARGE = 1 << 15
_COMPILED = frozenset(np.dtype(name) for name in ("int32", "int64", "float32", "float64"))

# Up to this many elements one ufunc call on whole rows costs less than flat positions do.
TINY = 128
_UNSIGNED = {np.dtype(np.int64): np.uint64, np.dtype(np.int32): np.uint32}

_ADD_ROWS = '''"""Adds rows of one matrix to rows of another, chosen by index."""
from numba import njit


@njit(cache=True, nogil=True)
def kernel(out, rows, source):
    for i in range(rows.size):
        row = rows[i]
        for j in range(out.shape[1]):
            out[row, j] += source[i, j]
'''


@functools.lru_cache(maxsize=None)
def _compiled_add_rows():
    return load_module("add_rows", _ADD_ROWS).kernel


def add_rows(out, rows, source):
    """`out[rows[i]] += source[i]` for every i. `out`: contiguous (R, C); `rows`: (n,) inside [0, R)."""
    if source.size >= LARGE and out.dtype in _COMPILED and source.dtype == out.dtype:
        _compiled_add_rows()(out, rows, source)
    elif source.size <= TINY:
        np.add.at(out, rows, source)
    else:
        reduce_at(np.add, out, element_positions(rows, out.shape[1]), source)


def element_positions(rows, columns):
    """The flat positions of whole rows' elements."""
    return rows if columns == 1 else (rows[:, None] * columns + np.arange(columns)).reshape(-1)


def reduce_at(ufunc, out, positions, source):
    """Reduce `source` elements, in turn, into the flat `positions` of a contiguous `out`."""
    ufunc.at(out.reshape(-1), positions.reshape(-1), source.reshape(-1).astype(out.dtype, copy=False))


def add_picked(out, picks, source):
    """`out[picks] += source` with repeats added each; `source` broadcasts to what `picks` picks.

    The picked dimensions are brought to the front, so that `out` becomes a matrix and a pick one of its rows.
    """
    dims = [d for d, pick in enumerate(picks) if not isinstance(pick, slice)]
    rows, picked = flat_rows(out.shape, picks, dims)
    if rows.size == 0 or out.size == 0:
        return
    front = np.moveaxis(out, dims, range(len(dims)))
    columns = int(np.prod(front.shape[len(dims) :]))
    table = np.ascontiguousarray(front).reshape(-1, columns)
    add_rows(table, rows, source_rows(source, front.shape[len(dims) :], picked, first_dim(dims), rows.size))
    if not np.shares_memory(table, out):
        front[...] = table.reshape(front.shape)


def flat_rows(shape, picks, dims):
    """(row numbers, their shape): picks of several dimensions as places in those dimensions laid out flat.

    Raises IndexError where a pick leads out of its dimension.
    """
    error = out_of_bounds(shape, picks)
    if error is not None:
        raise error
    rows = 0
    for dim in dims:
        pick = picks[dim]
        rows = rows * shape[dim] + np.where(pick < 0, pick + shape[dim], pick)
    return rows.reshape(-1).astype(np.int64, copy=False), rows.shape


def first_dim(dims):
    """Where the picked dimensions stand in the result: with the first, or in front if they were apart."""
    return dims[0] if dims[-1] - dims[0] + 1 == len(dims) else 0


def source_rows(source, kept, picked, place, count):
    """The source as one row per pick, broadcast."""
    full = np.broadcast_to(source, kept[:place] + picked + kept[place:])
    front = np.moveaxis(full, range(place, place + len(picked)), range(len(picked)))
    return np.ascontiguousarray(front).reshape(count, -1)


def out_of_bounds(shape, picks):
    """The IndexError for the first pick that leads out of its dimension, None if all are inside."""
    number = 0
    for size, pick in zip(shape, picks):
        if isinstance(pick, slice):
            continue
        if pick.size and (pick.max() >= size or pick.min() < -size):
            bad = pick[(pick < -size) | (pick >= size)].flat[0]
            return IndexError(f"index {bad} is out of bounds for dimension {number} with size {size}")
        number += 1
    return None


def first_outside(index, size):
    """The first entry of an index that is not in [0, size), None if there is none."""
    if index.size == 0 or index.view(_UNSIGNED[index.dtype]).max() < size:
        return None  # as unsigned numbers, negative entries are too large as well
    return int(index[(index < 0) | (index >= size)].flat[0])


def whole(ndim, dim, pick):
    """NumPy's index of `pick` along one dimension, with a slice for every other."""
    picks = [slice(None)] * ndim
    picks[dim] = pick
    return tuple(picks)


def along(index, dim):
    """NumPy's index that reads `index` along `dim` and every other dimension in step: what gather does."""
    if index.ndim <= 1:
        return (index.reshape(-1),)
    ranges = _ranges(index.shape)
    return ranges[:dim] + (index,) + ranges[dim + 1 :]


@functools.lru_cache(maxsize=256)
def _ranges(shape):
    """For every dimension its range of positions, shaped to broadcast against the others."""
    return tuple(np.ogrid[tuple(map(slice, shape))])


def flat_positions(shape, index, dim):
    """Where `along(index, dim)` leads in a contiguous array of this shape, as flat positions."""
    places = list(_ranges(index.shape))
    places[dim] = index
    positions, step = 0, 1
    for d in range(len(shape) - 1, -1, -1):
        positions = positions + places[d] * step if step != 1 else positions + places[d]
        step *= shape[d]
    return positions
