"""What LAPACK offers and NumPy does not: triangular solves, LU, failing Cholesky factors. Batches of matrices
(..., m, n).

Results are column-major, the layout in which LAPACK, and so PyTorch, returns matrices.
"""
import numpy as np


def by_columns(array):
    """The same batch of matrices, each stored column by column in fresh memory."""
    turned = array.swapaxes(-1, -2)
    return np.array(turned, order="C").swapaxes(-1, -2)


def transposed(array):
    return array.swapaxes(-1, -2)


def diagonal(array):
    """A writable view of the diagonals, (..., min(m, n))."""
    return np.einsum("...ii->...i", array[..., :min(array.shape[-2:]), :min(array.shape[-2:])])


# ---- triangular systems ------------------------------------------------------------------------------------

def solve_triangular(a, b, upper, left=True, unitriangular=False):
    """X with A X = B, or X A = B; A is upper or lower triangular, its other half is not read."""
    if not left:
        return transposed(solve_triangular(transposed(a), transposed(b), not upper, True, unitriangular))
    if not upper:                     # in reverse order of rows and columns a lower triangle is an upper one
        return solve_triangular(a[..., ::-1, ::-1], b[..., ::-1, :], True, True, unitriangular)[..., ::-1, :]
    a = np.triu(a)
    if unitriangular:
        diagonal(a)[...] = 1
    try:                              # LAPACK's elimination has nothing to do here but substitute backwards
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return substitute_backwards(a, b)


def substitute_backwards(a, b):
    """The solution row by row from below; a zero on the diagonal gives infinities."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:]
    found = np.array(np.broadcast_to(b, shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in reversed(range(a.shape[-1])):
            found[..., k, :] /= a[..., k, k, None]
            found[..., :k, :] -= a[..., :k, k, None] * found[..., k, None, :]
    return found


# ---- LU ----------------------------------------------------------------------------------------------------

def lu_factor(a, pivot=True):
    """(L and U in one matrix, pivots, info) by Gaussian elimination with row exchanges.

    `pivots` count from 1: row k changed places with row pivots[k]. `info`: 0, or the first k with a zero U[k,
    k].
    """
    lu = np.array(a, order="C")
    batch, (m, n) = lu.shape[:-2], lu.shape[-2:]
    steps = min(m, n)
    count = int(np.prod(batch))
    lu = lu.reshape(count, m, n)
    pivots, info = np.empty((count, steps), np.int32), np.zeros(count, np.int32)
    each = np.arange(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(steps):
            chosen = k + np.abs(lu[:, k:, k]).argmax(1) if pivot else np.full(count, k)
            exchange(lu, each, k, chosen)
            pivots[:, k] = chosen + 1
            eliminate(lu, k, info)
    return by_columns(lu.reshape(a.shape)), pivots.reshape(*batch, steps), info.reshape(batch)


def exchange(lu, each, k, chosen):
    """Exchange row k with row chosen[i] in the i-th matrix."""
    kept = lu[:, k].copy()
    lu[:, k] = lu[each, chosen]
    lu[each, chosen] = kept


def eliminate(lu, k, info):
    """One step: the multipliers of column k, and what they leave of the rows below."""
    head = lu[:, k, k]
    is_zero = head == 0
    info[is_zero & (info == 0)] = k + 1
    lu[:, k + 1:, k] /= np.where(is_zero, 1, head)[:, None]
    lu[:, k + 1:, k + 1:] -= lu[:, k + 1:, k, None] * lu[:, k, None, k + 1:]


def row_order(pivots, m):
    """The rows of A in the order that the pivots bring them to, (..., m)."""
    batch = pivots.shape[:-1]
    flat = pivots.reshape(int(np.prod(batch)), pivots.shape[-1]) - 1
    order = np.tile(np.arange(m), (len(flat), 1))
    each = np.arange(len(flat))
    for k in range(flat.shape[-1]):
        exchange(order[:, :, None], each, k, flat[:, k])
    return order.reshape(*batch, m)


def permutation(pivots, m, dtype):
    """P of A = P L U, (..., m, m)."""
    order = row_order(pivots, m)
    return (order[..., None, :] == np.arange(m)[:, None]).astype(dtype)


def lu_solve(lu, pivots, b):
    """X with P L U X = B."""
    shape = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    order = np.broadcast_to(row_order(pivots, b.shape[-2]), (*shape, b.shape[-2]))
    ordered = np.take_along_axis(np.broadcast_to(b, (*shape, *b.shape[-2:])), order[..., None], -2)
    return solve_triangular(lu, solve_triangular(lu, ordered, False, True, True), True)


def lu_solve_transposed(lu, pivots, b):
    """X with (P L U)^T X = B."""
    found = solve_triangular(transposed(lu), solve_triangular(transposed(lu), b, False), True, True, True)
    back = np.argsort(row_order(pivots, b.shape[-2]), -1)
    return np.take_along_axis(found, np.broadcast_to(back, (*found.shape[:-2], b.shape[-2]))[..., None], -2)


def reflected(a, tau):
    """The first columns of the product of the reflections that geqrf leaves below a's diagonal."""
    m, n = a.shape[-2:]
    found = np.array(np.broadcast_to(np.eye(m, n, dtype=a.dtype), a.shape))
    for i in reversed(range(tau.shape[-1])):
        v = np.array(a[..., i:, i:i + 1])
        v[..., 0, :] = 1
        found[..., i:, :] -= tau[..., i, None, None] * (v @ (transposed(v) @ found[..., i:, :]))
    return found


# ---- failures of LAPACK's routines, located ----------------------------------------------------------------

def invert(a):
    """(inverses, info of lu_factor); a singular matrix gets infinities."""
    try:
        return by_columns(np.linalg.inv(a)), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        return solve_by_lu(a, np.eye(a.shape[-1], dtype=a.dtype))


def solve(a, b):
    """(X of A X = B, info of A); infinities where A is singular."""
    try:
        return by_columns(np.linalg.solve(a, b)), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        return solve_by_lu(a, b)


def solve_by_lu(a, b):
    lu, pivots, info = lu_factor(a)
    return by_columns(lu_solve(lu, pivots, b)), info


def cholesky(a):
    """(lower factors, info); info k: the leading minor of order k is not positive, the factor ends before it."""
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        found = np.linalg.cholesky(a)
        if not np.isnan(np.diagonal(found, 0, -2, -1)).any():        # NaN is not positive; NumPy does not say so
            return by_columns(found), info
    except np.linalg.LinAlgError:
        pass
    found = np.array(np.tril(a))
    for index in np.ndindex(*info.shape):
        info[index] = factor_until_failure(found[index])
    return by_columns(np.tril(found)), info


def factor_until_failure(a):
    """Cholesky in place on one lower triangle; the order of the first minor that is not positive, or 0."""
    for k in range(len(a)):
        square = a[k, k] - a[k, :k] @ a[k, :k]
        if not square > 0:
            a[k, k] = square
            return k + 1
        a[k, k] = np.sqrt(square)
        a[k + 1:, k] = (a[k + 1:, k] - a[k + 1:, :k] @ a[k, :k]) / a[k, k]
    return 0


def symmetric_svd(a):
    """(U, S, Vh) of symmetric matrices by their eigenvalues, in no order."""
    values, vectors = np.linalg.eigh(a)
    return vectors * np.sign(values)[..., None, :], np.abs(values), transposed(vectors)


# ---- the exponential ---------------------------------------------------------------------------------------

# N. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005), table 2.3 and eq.
# 2.5.
_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
         10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)
_THETA = 5.4


def exponential(a):
    """e^A for each square matrix, by a Padé approximation of A / 2^s, squared s times."""
    norms = np.abs(a).sum(-2).max(-1, initial=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.ceil(np.log2(norms / _THETA))
    squarings = np.where(np.isfinite(wanted), np.maximum(wanted, 0), 0).astype(int)
    found = pade(a / (2.0 ** squarings)[..., None, None].astype(a.dtype))
    for i in range(squarings.max(initial=0)):
        found = np.where((i < squarings)[..., None, None], found @ found, found)
    return found


def pade(a):
    """The [13/13] Padé approximant of the exponential near zero."""
    powers = [np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape), a @ a]
    powers += [powers[1] @ powers[1]]
    powers += [powers[1] @ powers[2]]
    odd = powers[3] @ sum(_PADE[7 + 2 * i] * powers[i] for i in (1, 2, 3))
    odd = a @ (odd + sum(_PADE[1 + 2 * i] * powers[i] for i in range(4)))
    even = powers[3] @ sum(_PADE[6 + 2 * i] * powers[i] for i in (1, 2, 3))
    even = even + sum(_PADE[2 * i] * powers[i] for i in range(4))
    return np.linalg.solve(even - odd, even + odd)
