"""Factors of symmetric, indefinite matrices: P^T A P = L D L^T, with blocks of 1 and of 2 by 2 on the diagonal of D.

J. R. Bunch and L. Kaufman, "Some stable methods for calculating inertia and solving symmetric linear systems" (1977).
Results are those of LAPACK's sytrf and sytrs for lower triangles. In `pivots`, which count from 1, k > 0 says that this
row changed places with row k; a block of two has -k twice, and its second row changed places with row k.
"""
import numpy as np

from .matrices import by_columns

GROWTH = (1 + 17 ** 0.5) / 8        # bounds the growth of elements alike for steps of one and of two


def ldl_factor(a):
    """(L and D in one matrix, pivots, info); `info`: 0, or the first k with a zero D[k, k]. The lower triangle of each
    matrix (..., n, n) is read."""
    n, batch = a.shape[-1], a.shape[:-2]
    lower = np.tril(a).reshape(-1, n, n) if a.size else np.empty((int(np.prod(batch)), n, n), a.dtype)
    pivots, info = np.empty((len(lower), n), np.int32), np.zeros(len(lower), np.int32)
    for i, one in enumerate(lower):
        info[i] = factor_one(one, pivots[i])
    return by_columns(np.tril(lower).reshape(a.shape)), pivots.reshape(*batch, n), info.reshape(batch)


def factor_one(a, pivots):
    """Put the factors of one matrix in its place; return `info`. What is left to do is kept as a whole, mirrored."""
    a += np.tril(a, -1).T
    n, k, info = len(pivots), 0, 0
    while k < n:
        chosen, count = choose_pivot(a, k)
        swap(a, k, k + count - 1, chosen)
        pivots[k:k + count] = chosen + 1 if count == 1 else -(chosen + 1)
        block, below = a[k:k + count, k:k + count], a[k + count:, k:k + count]
        if count == 1 and not block[0, 0] != 0:
            info = info or k + 1
        else:
            factors = np.linalg.solve(block, below.T).T
            a[k + count:, k + count:] -= factors @ below.T
            below[...] = factors
        k += count
    return info


def choose_pivot(a, k):
    """(the row to exchange, how many rows the step takes): the diagonal element where it is large enough against its
    column, else the one in the row of the largest, else both."""
    here, column = abs(a[k, k]), np.abs(a[k + 1:, k])
    if not column.size or here >= GROWTH * column.max():
        return k, 1
    largest = k + 1 + column.argmax()
    row = np.abs(a[largest, k:])
    row[largest - k] = 0
    if here * row.max() >= GROWTH * column.max() ** 2:
        return k, 1
    return largest, 1 if abs(a[largest, largest]) >= GROWTH * row.max() else 2


def swap(a, k, i, j):
    """Exchange rows and columns i and j of what is left from k on."""
    if i != j:
        rest = a[k:, k:]
        rest[[i - k, j - k]] = rest[[j - k, i - k]]
        rest[:, [i - k, j - k]] = rest[:, [j - k, i - k]]


# ---- solving -----------------------------------------------------------------------------------------------------

def ldl_solve(ld, pivots, b):
    """X with A X = B, for the results of `ldl_factor`; batches broadcast."""
    n = ld.shape[-1]
    batch = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2])
    found = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])), order="C")
    for index in np.ndindex(*batch):
        solve_one(np.broadcast_to(ld, (*batch, n, n))[index], np.broadcast_to(pivots, (*batch, n))[index], found[index])
    return by_columns(found)


def solve_one(ld, pivots, b):
    """Solve in place of B: L and D from the top, L^T from the bottom, each step with its exchange of rows."""
    blocks = blocks_of(pivots)
    for k, count in blocks:
        exchange(b, k + count - 1, abs(pivots[k]) - 1)
        block = np.tril(ld[k:k + count, k:k + count])
        b[k + count:] -= ld[k + count:, k:k + count] @ b[k:k + count]
        b[k:k + count] = inverse(block + np.tril(block, -1).T) @ b[k:k + count]
    for k, count in reversed(blocks):
        b[k:k + count] -= ld[k + count:, k:k + count].T @ b[k + count:]
        exchange(b, k + count - 1, abs(pivots[k]) - 1)


def blocks_of(pivots):
    """[(first row, how many rows)] of the blocks of D."""
    found, k = [], 0
    while k < len(pivots):
        count = 1 if pivots[k] > 0 else 2
        found.append((k, count))
        k += count
    return found


def exchange(b, i, j):
    if i != j:
        b[[i, j]] = b[[j, i]]


def inverse(block):
    """Of a block of D; infinite where it is 0."""
    return np.linalg.inv(block) if len(block) == 2 else 1 / block
