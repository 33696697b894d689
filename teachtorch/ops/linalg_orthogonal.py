"""Singular values and QR: factorisations into orthogonal factors. Matrices are (..., m, n).

G_X is the gradient of a result X, dA the tangent of the argument. The derivatives are found by
differentiating the factorisation and the constraints on its factors: orthogonal, triangular or diagonal.
"""
import numpy as np

from ..kernels import matrices
from ..tensor import Tensor
from .declare import composite, exports, operator
from .fake import Fake, require_tensor
from .linalg import identity_like, solve_triangular_, sum_terms
from .linalg_checks import (LinAlgError, check_floating, check_matrix, fake_matrix, first_failure,
                            refuse_others, require_matrix_arrays)
from .linalg_factor import skew, wants_derivative
from .linalg_older import warn_of_older
from .return_types import return_type

# ---- singular values ---------------------------------------------------------------------------------------

def fake_svd(A, full_matrices=False, compute_uv=True):
    require_tensor(A, "linalg_svd", "A")
    check_matrix("linalg.svd", A)
    check_floating("linalg.svd", A)
    refuse_others("linalg_svd_cpu", A)
    *batch, m, n = A._shape
    k = min(m, n)
    if not compute_uv:
        return Fake((0,), A._dtype), Fake((*batch, k), A._dtype), Fake((0,), A._dtype)
    return (fake_matrix((*batch, m, m if full_matrices else k), A._dtype), Fake((*batch, k), A._dtype),
            fake_matrix((*batch, n if full_matrices else k, n), A._dtype))


def square_gaps(S):
    """E_ij = s_j^2 - s_i^2, with ones on the diagonal; as a product, which loses fewer digits."""
    across, down = S.unsqueeze(-2), S.unsqueeze(-1)
    return (across - down) * (across + down) + identity_like(S)


def narrowed(t, dim, size):
    return None if t is None else t.narrow(dim, 0, size)


def svd_vjp(grads, U, S, Vh, full_matrices):
    """J. Townsend, "Differentiating the singular value decomposition" (2016). Of full matrices the further
    columns are ignored: they are free to turn, and a function of the factorisation cannot depend on them."""
    k = S.shape[-1]
    G_U, G_S, G_Vh = grads
    G_U, G_Vh, U, Vh = narrowed(G_U, -1, k), narrowed(G_Vh, -2, k), narrowed(U, -1, k), narrowed(Vh, -2, k)
    if G_U is None and G_Vh is None:
        return None if G_S is None else (U * G_S.unsqueeze(-2)) @ Vh
    return svd_gradient(G_U, G_S, G_Vh, U, S, Vh)


def svd_gradient(G_U, G_S, G_Vh, U, S, Vh):
    """G_A = U [(skew(U^T G_U) / E) S + S (skew(V^T G_V) / E) + diag(G_S)] V^T, and what lies outside U and V's span."""
    down, across, E = S.unsqueeze(-1), S.unsqueeze(-2), square_gaps(S)
    inner = outside_left = outside_right = None
    if G_U is not None:
        aligned = U.mT @ G_U
        inner = skew(aligned) / E * across
        if U.shape[-2] > U.shape[-1]:
            outside_left = ((G_U - U @ aligned) / across) @ Vh
    if G_Vh is not None:
        aligned = Vh @ G_Vh.mT
        inner = sum_terms(inner, down * (skew(aligned) / E))
        if Vh.shape[-1] > Vh.shape[-2]:
            outside_right = U @ ((G_Vh - aligned.mT @ Vh) / down)
    if G_S is not None:
        inner = inner + G_S.diag_embed()
    return sum_terms(U @ inner @ Vh, outside_left, outside_right)


def svd_jvp(A_t, U, S, Vh, full_matrices):
    """With P = U^T dA V: dS = diag(P), dU = U (sym(X S) / E), dV = V (sym(S X) / E); X is P off the diagonal.

    The further columns of full matrices are free to turn; like PyTorch we give them the tangent 0.
    """
    k, further = S.shape[-1], (U, Vh)
    U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)
    dU, dS, dVh = reduced_svd_jvp(A_t, U, S, Vh)
    return padded(dU, further[0], -1), dS, padded(dVh, further[1], -2)


def padded(tangent, full, dim):
    """The tangent with zeros along `dim`, in the shape of `full`."""
    missing = full.shape[dim] - tangent.shape[dim]
    if not missing:
        return tangent
    zeros = full.narrow(dim, 0, missing) * 0
    return exports[""]["cat"]([tangent, zeros], dim)


def reduced_svd_jvp(A_t, U, S, Vh):
    P = U.mT @ A_t @ Vh.mT
    dS = P.diagonal(0, -2, -1)
    X, E = P - dS.diag_embed(), square_gaps(S)
    XS, SX = X * S.unsqueeze(-2), S.unsqueeze(-1) * X
    dU = U @ ((XS + XS.mT) / E)
    dVh = ((SX + SX.mT) / E).mT @ Vh
    if U.shape[-2] > U.shape[-1]:
        moved = A_t @ Vh.mT
        dU = dU + (moved - U @ (U.mT @ moved)) / S.unsqueeze(-2)
    if Vh.shape[-1] > Vh.shape[-2]:
        moved = U.mT @ A_t
        dVh = dVh + (moved - (moved @ Vh.mT) @ Vh) / S.unsqueeze(-1)
    return dU, dS, dVh


@operator("linalg._svd", fake=fake_svd, outputs=("U", "S", "Vh"), spaces=(), vjp={"A": svd_vjp}, jvp=svd_jvp)
def svd_(A, full_matrices=False, compute_uv=True):
    """Singular values in descending order, and both orthogonal factors if wanted."""
    require_matrix_arrays(A)
    if not np.isfinite(A).all():
        raise LinAlgError(f"linalg.svd: {first_failure(A)}The algorithm failed to converge because the input "
                          "matrix contained non-finite values.")
    if not compute_uv:
        return np.empty(0, A.dtype), np.linalg.svd(A, compute_uv=False), np.empty(0, A.dtype)
    U, S, Vh = np.linalg.svd(A, full_matrices)
    return matrices.by_columns(U), S, matrices.by_columns(Vh)


def refuse_driver(driver):
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs "
                           "with cuSOLVER backend.")


@composite("linalg.svd", out=True, outputs=("U", "S", "Vh"), spaces=("linalg",))
def svd(A, full_matrices=True, *, driver=None):
    """(U, S, Vh) with A = U diag(S) Vh, S descending; `full_matrices`: square U and Vh. Signs are free."""
    refuse_driver(driver)
    return return_type("linalg_svd", ("U", "S", "Vh"))(*svd_(A, full_matrices))


@composite("linalg.svdvals", out=True, spaces=("linalg",))
def svdvals(A, *, driver=None):
    """The singular values, descending."""
    refuse_driver(driver)
    return svd_(A, False, not isinstance(A, Tensor) or wants_derivative(A))[1]


@composite("svd", out=True, outputs=("U", "S", "V"))
def old_svd(self, some=True, compute_uv=True):
    """The old spelling of `linalg.svd`, which returns V, not its transpose; without `compute_uv`, zeros."""
    if self.dim() < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {self.dim()} "
                           "dimensions instead")
    results = return_type("svd", ("U", "S", "V"))
    if not compute_uv:
        *batch, m, n = self.shape
        return results(self.new_zeros((*batch, m, m)), svdvals(self), self.new_zeros((*batch, n, n)))
    U, S, Vh = svd_(self, not some)
    return results(U, S, Vh.mT)


# ---- QR ----------------------------------------------------------------------------------------------------

def fake_qr(A, mode="reduced"):
    if not isinstance(mode, str):
        raise TypeError(f"linalg_qr(): argument 'mode' (position 2) must be str, not {type(mode).__name__}")
    require_tensor(A, "linalg_qr", "A")
    check_matrix("linalg.qr", A)
    check_floating("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
                           "'r', or 'complete'")
    refuse_others("geqrf_cpu", A)
    *batch, m, n = A._shape
    k = m if mode == "complete" else min(m, n)
    Q = Fake((0,), A._dtype) if mode == "r" else fake_matrix((*batch, m, k), A._dtype)
    return Q, fake_matrix((*batch, k, n), A._dtype)


def check_qr_derivative(mode, m, n):
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
                           "Please use linalg.qr(A, mode='reduced') if you are going to differentiate "
                           "through linalg.qr.")
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > "
                           "ncols.")


def qr_vjp(grads, A_shape, Q, R, mode):
    """A wide A = [A1 A2] has Q R1 = A1 and R2 = Q^T A2, so what reaches R2 goes on to A2 and to Q.

    H.-J. Liao et al., "Differentiable programming tensor networks" (2019), eq. 11; M. Seeger et al.,
    "Auto-differentiating linear algebra" (2017).
    """
    m, n = A_shape[-2:]
    check_qr_derivative(mode, m, n)
    G_Q, G_R = grads
    if m >= n:
        return tall_qr_vjp(G_Q, G_R, Q, R)
    first = second = None
    if G_R is not None:
        first, second = G_R[..., :m], Q @ G_R[..., m:]
        G_Q = sum_terms(G_Q, Q @ (R[..., m:] @ G_R[..., m:].mT))
    first = tall_qr_vjp(G_Q, first, Q, R[..., :m])
    second = first.new_zeros((*first.shape[:-1], n - m)) if second is None else second
    return exports[""]["cat"]([first, second], -1)


def tall_qr_vjp(G_Q, G_R, Q, R):
    """G_A = (G_Q + Q copyltu(M)) R^-T with M = R G_R^T - G_Q^T Q; copyltu mirrors the lower triangle."""
    middle = sum_terms(None if G_R is None else R @ G_R.mT, None if G_Q is None else -(G_Q.mT @ Q))
    middle = middle.tril() + middle.tril(-1).mT
    return solve_triangular_(R.mT, sum_terms(G_Q, Q @ middle), False, False)


def qr_jvp(A_t, A, Q, R, mode):
    """With X = Q^T dA R^-1: Q^T dQ = W is skew with X's lower triangle, dR = (X - W) R.

    From dA = dQ R + Q dR follows dQ = (dA - Q dR) R^-1.
    """
    m, n = A.shape[-2:]
    check_qr_derivative(mode, m, n)
    k = min(m, n)
    R1, dA1 = R[..., :k], A_t[..., :k]
    X = solve_triangular_(R1, Q.mT @ dA1, True, False)
    W = skew(X.tril(-1))
    dR = (X - W) @ R1
    dQ = solve_triangular_(R1, dA1 - Q @ dR, True, False)
    if n > m:
        dR = exports[""]["cat"]([dR, Q.mT @ A_t[..., k:] - W @ R[..., k:]], -1)
    return dQ, dR


@operator("linalg._qr", fake=fake_qr, outputs=("Q", "R"), spaces=(), vjp={"A": qr_vjp}, jvp=qr_jvp)
def qr_(A, mode="reduced"):
    """The orthogonal and the upper triangular factor."""
    require_matrix_arrays(A)
    if mode == "r":
        return np.empty(0, A.dtype), matrices.by_columns(np.linalg.qr(A, "r"))
    Q, R = np.linalg.qr(A, {"reduced": "reduced", "complete": "complete"}[mode])
    return matrices.by_columns(Q), matrices.by_columns(R)


@composite("linalg.qr", out=True, outputs=("Q", "R"), spaces=("linalg",))
def qr(A, mode="reduced"):
    """(Q, R) with A = Q R, orthonormal columns of Q and an upper triangular R.

    `mode`: "reduced" (Q is (m, k) with k = min(m, n)), "complete" (Q is (m, m)) or "r" (Q is empty).
    """
    return return_type("linalg_qr", ("Q", "R"))(*qr_(A, mode))


@composite("qr", out=True, outputs=("Q", "R"))
def old_qr(self, some=True):
    """The old spelling of `linalg.qr`."""
    warn_of_older("qr")
    return return_type("qr", ("Q", "R"))(*qr_(self, "reduced" if some else "complete"))
