"""Which elements and which storage slots a stride picture shows, and which slots belong to the tensor."""

from itertools import islice, product
from math import prod

SMALL = 144
SLOTS_PER_ROW = 16
STORAGE_ROWS = 12
LONG_STORAGE_ROWS = 8


def limits(shape):
    """(panels, rows, columns) to draw at most: a small tensor is drawn whole, a big one from its corners."""
    if prod(shape) <= SMALL:
        return 15, 16, 20
    return (1, 10, 12) if len(shape) <= 2 else (4, 6, 8)


def shown_positions(size, limit):
    """Positions along a dim: all of them, or the first ones, None for the gap, and the last."""
    if size <= limit:
        return list(range(size))
    return [*range(limit - 2), None, size - 1]


def panels(shape):
    """The grid as a list of (leading index or None for a gap, rows, columns), each with gaps as None."""
    if not shape:
        return [((), [0], [0])]
    most, high, wide = limits(shape)
    columns = shown_positions(shape[-1], wide)
    rows = shown_positions(shape[-2], high) if len(shape) > 1 else [0]
    return [(index, rows, columns) for index in _leading(shape[:-2], most)]


def _leading(sizes, most):
    """Indices of the leading dims: all, or the first ones, None for the gap, and the last."""
    every = product(*map(range, sizes))
    if prod(sizes) <= most:
        return list(every)
    return [*islice(every, most - 1), None, tuple(size - 1 for size in sizes)]


def shown_indices(shape):
    """Indices of the elements in the picture, in row-major order."""
    found = []
    for leading, rows, columns in panels(shape):
        if leading is not None:
            found += [full_index(shape, leading, r, c) for r in rows for c in columns if None not in (r, c)]
    return found


def full_index(shape, leading, row, column):
    """The element at this place of the grid; a 1-d tensor has no row, a 0-d tensor no column either."""
    tail = (row, column)[max(0, 2 - len(shape)) :]
    return (*leading, *tail)


def slot_of(offset, strides, index):
    """offset + sum of index times stride: the address rule, in elements."""
    return offset + sum(i * step for i, step in zip(index, strides, strict=True))


def storage_rows(slots, total):
    """Rows of the storage ruler: (first, last) slot numbers of each, None for a gap.

    slots: the slots of the shown elements. Rows without any of them give way when the storage is long.
    """
    count = -(-total // SLOTS_PER_ROW)
    wanted = range(count) if count <= STORAGE_ROWS else _some_rows(slots, count)
    rows, before = [], -1
    for row in wanted:
        if row != before + 1:
            rows.append(None)
        rows.append((row * SLOTS_PER_ROW, min(total, (row + 1) * SLOTS_PER_ROW) - 1))
        before = row
    return rows + ([None] if before != count - 1 else [])


def _some_rows(slots, count):
    """The rows of the shown elements, and the ends of the storage, as far as they fit."""
    used = sorted({slot // SLOTS_PER_ROW for slot in slots} | {0, count - 1})
    return used if len(used) <= LONG_STORAGE_ROWS else used[: LONG_STORAGE_ROWS - 1] + used[-1:]


def holds(shape, strides, rest):
    """True if some index has sum(index * stride) == rest: does the tensor reach this slot?"""
    dims = sorted(
        ((step, size) for step, size in zip(strides, shape, strict=True) if step and size > 1), reverse=True
    )
    return 0 not in shape and _reaches(dims, rest)


def _reaches(dims, rest):
    if not dims or rest <= 0:
        return rest == 0
    (step, size), inner = dims[0], dims[1:]
    reach = sum(s * (n - 1) for s, n in inner)
    first = max(0, -(-(rest - reach) // step))
    return any(_reaches(inner, rest - i * step) for i in range(first, min(size - 1, rest // step) + 1))
