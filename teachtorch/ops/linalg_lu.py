"""LU factorisations, and systems solved by them. Matrices are (..., m, n).

In A = P L U, P orders the rows, L is lower triangular with ones on its diagonal, U is upper triangular. G_X
is the gradient of a result X, dA the tangent of the argument.
"""
import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels import matrices
from ..tensor import array_of
from .creation import beside
from .declare import composite, exports, operator, publish
from .fake import Fake, require_tensor
from .linalg import solution_shape, solve_triangular_, sum_terms
from .linalg_checks import (by_columns_stride, check_floating, check_square, fake_info, fake_matrix, refuse_others,
                            require_matrix_arrays)
from .linalg_older import warn_of_older
from .return_types import return_type


def cat(tensors, dim):
    return exports[""]["cat"](tensors, dim)


def check_lu(name, A):
    require_tensor(A, name.replace(".", "_"), "A")
    if len(A._shape) < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A._shape)} "
                           "instead")
    refuse_others("lu_cpu", A)


# ---- the derivative of A = P L U ---------------------------------------------------------------------------

def lu_gradient(G_L, G_U, P, L, U):
    """Of a square A: G_A = P L^-T [tril(L^T G_L, -1) + triu(G_U U^T)] U^-T.

    A tall A has more rows in L, L2 = A2 U^-1; a wide A more columns in U, U2 = L^-1 A2. What reaches these
    goes on to A2 and to the factors of the square part.
    """
    m, n = L.shape[-2], U.shape[-1]
    k, rest = min(m, n), None
    L1, U1 = L[..., :k, :], U[..., :k]
    if G_L is not None and m > n:
        rest = solve_triangular_(U1.mT, G_L[..., k:, :], False, False)
        G_U = sum_terms(G_U, -(L[..., k:, :].mT @ rest))
        G_L = G_L[..., :k, :]
    if G_U is not None and n > m:
        rest = solve_triangular_(L1.mT, G_U[..., k:], True, True, True)
        G_L = sum_terms(G_L, -(rest @ U[..., k:].mT))
        G_U = G_U[..., :k]
    found = square_lu_gradient(G_L, G_U, L1, U1)
    if m != n:
        dim = -2 if m > n else -1
        found = cat([found, missing_part(found, m, n) if rest is None else rest], dim)
    return P @ found


def missing_part(square, m, n):
    """Zeros for the rows or columns that nothing reached."""
    k, batch = min(m, n), square.shape[:-2]
    return square.new_zeros((*batch, m - k, n) if m > n else (*batch, m, n - k))


def square_lu_gradient(G_L, G_U, L, U):
    lower = None if G_L is None else (L.mT @ G_L).tril(-1)
    upper = None if G_U is None else (G_U @ U.mT).triu()
    half = solve_triangular_(L.mT, sum_terms(lower, upper), True, True, True)
    return solve_triangular_(U.mT, half, False, False)


def lu_tangent(dA, P, L, U):
    """(dL, dU): with X = L^-1 P^T dA U^-1, dL = L tril(X, -1) and dU = triu(X) U; further parts follow."""
    m, n = L.shape[-2], U.shape[-1]
    k, dA = min(m, n), P.mT @ dA
    L1, U1 = L[..., :k, :], U[..., :k]
    X = solve_triangular_(U1, solve_triangular_(L1, dA[..., :k, :k], False, True, True), True, False)
    dL, dU = L1 @ X.tril(-1), X.triu() @ U1
    if m > n:
        dL = cat([dL, solve_triangular_(U1, dA[..., k:, :] - L[..., k:, :] @ dU, True, False)], -2)
    if n > m:
        dU = cat([dU, solve_triangular_(L1, dA[..., k:] - dL @ U[..., k:], False, True, True)], -1)
    return dL, dU


# ---- LU ----------------------------------------------------------------------------------------------------

def factors_of(LU):
    """(L, U) out of the one matrix that holds both."""
    m, n = LU.shape[-2:]
    k = min(m, n)
    lower = LU[..., :k].tril(-1)
    return lower + exports[""]["eye"](m, k, dtype=lower.dtype, device=lower.device), LU[..., :k, :].triu()


def unpacked_arrays(lu, pivots):
    """(P, L, U) as arrays."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    L = np.tril(lu[..., :k], -1)
    matrices.diagonal(L)[...] = 1
    return matrices.permutation(pivots, m, lu.dtype), L, np.triu(lu[..., :k, :])


def fake_factors(A):
    *batch, m, n = A._shape
    k = min(m, n)
    return [Fake((*batch, *shape), A._dtype) for shape in ((m, m), (m, k), (k, n))]


def fake_lu(A):
    check_lu("linalg.lu", A)
    return tuple(fake_factors(A))


def lu_vjp(grads, P, L, U):
    if grads[1] is None and grads[2] is None:
        return None
    return lu_gradient(grads[1], grads[2], P, L, U)


@operator("linalg._lu", fake=fake_lu, outputs=("P", "L", "U"), spaces=(), vjp={"A": lu_vjp},
          jvp=lambda A_t, P, L, U: (None, *lu_tangent(A_t, P, L, U)))
def lu_(A):
    """The three factors."""
    require_matrix_arrays(A)
    return unpacked_arrays(*matrices.lu_factor(A)[:2])


def require_pivot(pivot):
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@composite("linalg.lu", out=True, outputs=("P", "L", "U"), spaces=("linalg",))
def lu(A, *, pivot=True):
    """(P, L, U) with A = P L U, by elimination with row exchanges."""
    require_pivot(pivot)
    P, L, U = lu_(A)
    return return_type("linalg_lu", ("P", "L", "U"))(P.detach(), L, U)


def fake_lu_factor(A):
    check_lu("torch.lu_factor", A)
    *batch, m, n = A._shape
    return fake_matrix(A._shape, A._dtype), Fake((*batch, min(m, n)), dt.int32), fake_info(batch)


def packed_vjp(grads, LU, pivots):
    if grads[0] is None:
        return None
    k = min(LU.shape[-2:])
    P = permutation_of(pivots, LU)
    return lu_gradient(grads[0][..., :k], grads[0][..., :k, :], P, *factors_of(LU))


def packed_jvp(A_t, LU, pivots):
    dL, dU = lu_tangent(A_t, permutation_of(pivots, LU), *factors_of(LU))
    return packed(dL, dU), None, None


def packed(lower, upper):
    """The strictly lower part of one and the upper part of the other in one matrix."""
    m, n = lower.shape[-2], upper.shape[-1]
    lower = lower.tril(-1)
    if m > n:
        return cat([lower[..., :n, :] + upper, lower[..., n:, :]], -2)
    return cat([lower + upper[..., :m], upper[..., m:]], -1) if n > m else lower + upper


def permutation_of(pivots, LU):
    found = matrices.permutation(array_of(pivots.detach()), LU.shape[-2], LU.dtype.numpy)
    return beside(LU, found)


@operator("linalg._lu_factor_ex", fake=fake_lu_factor, outputs=("LU", "pivots", "info"), spaces=(),
          vjp={"A": packed_vjp}, jvp=packed_jvp)
def lu_factor_ex_(A):
    """L and U in one matrix, the row exchanges, and info."""
    require_matrix_arrays(A)
    return matrices.lu_factor(A)


@composite("linalg.lu_factor_ex", out=True, outputs=("LU", "pivots", "info"), spaces=("linalg",))
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """(LU, pivots, info): `pivots` count from 1; `info` is not 0 where U has a zero on its diagonal."""
    require_pivot(pivot)
    found = return_type("linalg_lu_factor_ex", ("LU", "pivots", "info"))(*lu_factor_ex_(A))
    if check_errors:
        require_no_zero("torch.linalg.lu_factor_ex", found.info)
    return found


def require_no_zero(name, info):
    codes = array_of(info).reshape(-1)
    if codes.any():
        code = int(codes[codes.nonzero()[0][0]])
        raise RuntimeError(f"{name}: U[{code},{code}] is zero and using it on lu_solve would result in a "
                           "division by zero. If you still want to perform the factorization, consider "
                           "calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")


@composite("linalg.lu_factor", out=True, outputs=("LU", "pivots"), spaces=("linalg",))
def lu_factor(A, *, pivot=True):
    """(LU, pivots) for `linalg.lu_solve`. RuntimeError where A is singular."""
    require_pivot(pivot)
    LU, pivots, info = lu_factor_ex_(A)
    require_no_zero("torch.linalg.lu_factor", info)
    return return_type("linalg_lu_factor", ("LU", "pivots"))(LU, pivots)


def old_lu(input, pivot=True, get_infos=False, out=None):
    """(LU, pivots) or (LU, pivots, infos): the old spelling of `linalg.lu_factor_ex`."""
    warn_of_older("lu")
    found = tuple(lu_factor_ex(input, pivot=pivot, check_errors=not get_infos))
    return return_type("_lu_with_info", ("LU", "pivots", "info"))(*found) if get_infos else found[:2]


publish("lu", old_lu, ("", "Tensor"))


def fake_unpack(LU_data, LU_pivots):
    name = "torch.lu_unpack"
    if LU_pivots._dtype is not dt.int32:
        raise RuntimeError(f"{name}: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.")
    if len(LU_data._shape) < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(LU_data._shape)} instead")
    if LU_pivots._shape[-1] != min(LU_data._shape[-2:]):
        raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                           "Did you properly pass the result of lu_factor?")
    return tuple(fake_factors(LU_data))


@operator("lu_unpack_", fake=fake_unpack, outputs=("P", "L", "U"), spaces=(), out=False,
          vjp={"LU_data": lambda grads, LU_data_shape: unpack_vjp(grads[1], grads[2], LU_data_shape)},
          jvp=lambda LU_data_t: (None, *unpack_tangent(LU_data_t)))
def lu_unpack_(LU_data, LU_pivots):
    """The three factors from the packed form."""
    if LU_data.ndim < 2 or LU_pivots.dtype != np.int32 or LU_pivots.shape[-1] != min(LU_data.shape[-2:]):
        raise TypeError("lu_unpack: no result of lu_factor")
    return unpacked_arrays(LU_data, LU_pivots)


def unpack_vjp(G_L, G_U, shape):
    if G_L is None and G_U is None:
        return None
    *batch, m, n = shape
    k, some = min(m, n), G_U if G_L is None else G_L
    return packed(some.new_zeros((*batch, m, k)) if G_L is None else G_L,
                  some.new_zeros((*batch, k, n)) if G_U is None else G_U.triu())


def unpack_tangent(dLU):
    k = min(dLU.shape[-2:])
    return dLU[..., :k].tril(-1), dLU[..., :k, :].triu()


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) from the result of `lu_factor`; what is not asked for is empty."""
    P, L, U = lu_unpack_(LU_data, LU_pivots)
    empty = LU_data.new_empty(0)
    results = return_type("lu_unpack", ("P", "L", "U"))
    return results(P.detach() if unpack_pivots else empty, *((L, U) if unpack_data else (empty, empty)))


publish("lu_unpack", lu_unpack, ("",))


def fake_lu_solve(LU, pivots, B, left=True, adjoint=False):
    name = "linalg.lu_solve"
    if pivots._dtype is not dt.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_floating("torch.linalg.lu_solve", LU)
    check_square("torch.linalg.lu_solve", LU)
    if LU._dtype is not B._dtype:
        raise RuntimeError(f"{name}: Expected LU and B to have the same dtype, but found LU of type "
                           f"{scalar_type_name(LU._dtype)} and B of type {scalar_type_name(B._dtype)} "
                           "instead")
    if len(B._shape) < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    shape = solution_shape(name, LU, B, left) if B._shape != LU._shape[:-1] else B._shape
    if pivots._shape[-1] != LU._shape[-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the "
                           "matrix")
    if pivots._shape != LU._shape[:-1]:
        raise RuntimeError(f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(pivots._shape)} instead")
    refuse_others("linalg.lu_solve_cpu", LU)
    return Fake(shape, LU._dtype, by_columns_stride(shape) if left else None)


def lu_solve_vjp(grad, LU, pivots, left, adjoint, result, needs):
    """As of `solve`: G_B solves the transposed system, and G_A of A = P L U goes on to L and U."""
    G_B = lu_solve_(LU, pivots, grad, left, not adjoint)
    if not needs[0]:
        return None, G_B
    outer = -(G_B @ result.mT if left else result.mT @ G_B)
    G_A = permutation_of(pivots, LU).mT @ (outer.mT if adjoint else outer)
    L, U = factors_of(LU)
    return (G_A @ U.mT).tril(-1) + (L.mT @ G_A).triu(), G_B


def lu_solve_jvp(LU_t, B_t, LU, pivots, left, adjoint, result):
    change = None
    if LU_t is not None:
        L, U = factors_of(LU)
        moved = permutation_of(pivots, LU) @ (LU_t.tril(-1) @ U + L @ LU_t.triu())
        moved = moved.mT if adjoint else moved
        change = -(moved @ result if left else result @ moved)
    return lu_solve_(LU, pivots, sum_terms(change, B_t), left, adjoint)


@operator("linalg._lu_solve", fake=fake_lu_solve, spaces=(), vjp={"LU, B": lu_solve_vjp}, jvp=lu_solve_jvp)
def lu_solve_(LU, pivots, B, left=True, adjoint=False):
    """X with A X = B for A = P L U; A^T for `adjoint`; X A = B if not `left`."""
    require_matrix_arrays(LU, B)
    if LU.dtype != B.dtype or pivots.dtype != np.int32 or pivots.shape != LU.shape[:-1]:
        raise TypeError("linalg.lu_solve: operands that do not fit")
    solve = matrices.lu_solve_transposed if adjoint == left else matrices.lu_solve
    if left:
        return matrices.by_columns(solve(LU, pivots, B))
    return np.ascontiguousarray(matrices.transposed(solve(LU, pivots, matrices.transposed(B))))


@composite("linalg.lu_solve", out=True, spaces=("linalg",))
def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X with A X = B from `lu_factor(A)`; A^T for `adjoint`; X A = B if not `left`."""
    return lu_solve_(LU, pivots, B, left, adjoint)


@composite("lu_solve", out=True)
def old_lu_solve(self, LU_data, LU_pivots):
    """X with A X = self: the old spelling of `linalg.lu_solve`."""
    warn_of_older("lu_solve")
    return lu_solve_(LU_data, LU_pivots, self)
