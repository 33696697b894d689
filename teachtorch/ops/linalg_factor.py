"""Factorisations: Cholesky, eigenvalues, singular values, QR, LU. Matrices are (..., m, n).

G_X is the gradient of a result X, dA the tangent of the argument; L, Q, R, U, V as each operator names them. The
derivatives are found by differentiating the factorisation and the constraints on its factors (triangular, orthogonal,
diagonal); the papers named do so at length.
"""
import numpy as np

from ..autograd.forward_ad import tangent_of
from ..autograd.meta import tracks
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..kernels import matrices
from ..tensor import Tensor
from .declare import composite, exports, operator
from .fake import Fake, require_tensor
from .linalg import identity_like, solve_triangular_, sum_terms
from .linalg_checks import (LinAlgError, check_floating, check_matrix, check_square, fake_info, fake_matrix,
                            not_positive_definite, refuse_others, require_matrix_arrays, require_square_arrays,
                            require_success)
from .return_types import return_type


# ---- Cholesky --------------------------------------------------------------------------------------------------

def fake_cholesky(self, upper=False):
    check_square("linalg.cholesky", self)
    check_floating("linalg.cholesky", self)
    refuse_others("cholesky_cpu", self)
    return fake_matrix(self._shape, self._dtype), fake_info(self._shape[:-2])


def halved_diagonal(t):
    """The lower triangle with half of the diagonal."""
    return t.tril() - (t * identity_like(t)) / 2


def cholesky_gradient(G, factor, upper):
    """G_A = L^-T sym(phi(L^T G)) L^-1, symmetric as A is; phi: lower triangle, half of the diagonal.

    I. Murray, "Differentiation of the Cholesky decomposition" (2016), eq. 10.
    """
    L, G = (factor.mT, G.mT) if upper else (factor, G)
    middle = halved_diagonal(L.mT @ G)
    middle = (middle + middle.mT) / 2
    half = solve_triangular_(L.mT, middle, True)
    return solve_triangular_(L, half, False, False)


def cholesky_tangent(dA, factor, upper):
    """dL = L phi(L^-1 dA L^-T) of a symmetric dA (Murray, eq. 8)."""
    L = factor.mT if upper else factor
    middle = solve_triangular_(L.mT, solve_triangular_(L, dA, False), True, False)
    found = L @ halved_diagonal(middle)
    return found.mT if upper else found


@operator("linalg._cholesky_ex", fake=fake_cholesky, outputs=("L", "info"), spaces=(),
          vjp={"self": lambda grads, L, upper: cholesky_gradient(grads[0], L, upper)},
          jvp=lambda self_t, L, upper: (cholesky_tangent(self_t, L, upper), None))
def cholesky_ex_(self, upper=False):
    """The factor, and 0 or the order of the leading minor that is not positive."""
    require_square_arrays(self)
    found, info = matrices.cholesky(matrices.transposed(self) if upper else self)
    return (matrices.by_columns(matrices.transposed(found)) if upper else found), info


@composite("linalg.cholesky_ex", out=True, outputs=("L", "info"), spaces=("linalg",))
def cholesky_ex(self, *, upper=False, check_errors=False):
    """(L, info): `info` is 0, or the order of the first leading minor that is not positive-definite."""
    return cholesky_of(self, upper, "linalg.cholesky_ex" if check_errors else None)


def cholesky_of(self, upper, checked_name):
    found = return_type("linalg_cholesky_ex", ("L", "info"))(*cholesky_ex_(self, upper))
    if checked_name:
        require_success(checked_name, found.info, not_positive_definite)
    return found


@composite("linalg.cholesky", out=True, spaces=("linalg",))
def cholesky(self, *, upper=False):
    """The lower factors L of symmetric positive-definite matrices A = L L^T (`upper`: U of U^T U).

    Only that triangle of A is read. LinAlgError where A is not positive-definite.
    """
    return cholesky_of(self, upper, "linalg.cholesky")[0]


@composite("cholesky", out=True)
def cholesky_(self, upper=False):
    """The old spelling of `linalg.cholesky`."""
    require_tensor(self, "cholesky", "input")
    check_square("cholesky", self)
    return cholesky_of(self, upper, "cholesky")[0]


def fake_cholesky_inverse(self, upper=False):
    check_square("cholesky_inverse", self)
    refuse_others("cholesky_inverse_out_cpu", self)
    return fake_matrix(self._shape, self._dtype)


def inverse_factor_slope(X, L, change, upper):
    """X = (L L^T)^-1: G_L = -X (G + G^T) X L."""
    middle = -(X @ (change + change.mT) @ X)
    return L @ middle if upper else middle @ L


def cholesky_inverse_tangent(self_t, self, result, upper):
    moved = self_t.mT @ self if upper else self_t @ self.mT
    return -(result @ (moved + moved.mT) @ result)


@operator("cholesky_inverse", fake=fake_cholesky_inverse, jvp=cholesky_inverse_tangent,
          vjp={"self": lambda grad, self, result, upper: inverse_factor_slope(result, self, grad, upper)})
def cholesky_inverse(self, upper=False):
    """The inverse of A from its Cholesky factor."""
    require_square_arrays(self)
    zeros = np.argwhere(matrices.diagonal(self) == 0)
    if len(zeros):
        *batch, k = zeros[0]
        where = f"(Batch element {batch[-1]}): " if batch else ""
        raise LinAlgError(f"cholesky_inverse: {where}The diagonal element {k + 1} is zero, the inversion could not be "
                          "completed because the input matrix is singular.")
    return matrices.by_columns(solve_by_factor(np.eye(self.shape[-1], dtype=self.dtype), self, upper))


def solve_by_factor(b, factor, upper):
    """A^-1 b for A = L L^T, or A = U^T U if `upper`."""
    lower = matrices.transposed(factor) if upper else factor
    half = matrices.solve_triangular(lower, b, False)
    return matrices.solve_triangular(matrices.transposed(lower), half, True)


def check_cholesky_solve(self, input2):
    for name, t in (("b", self), ("u", input2)):
        if t.dim() < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {t.dim()} dimensions instead")
    if input2.shape[-1] != input2.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {input2.shape[-2]} by "
                           f"{input2.shape[-1]} matrices")
    if input2.shape[-1] != self.shape[-2]:
        n, k = self.shape[-2:]
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is {input2.shape[-1]} by "
                           f"{input2.shape[-1]} but each b matrix is {n} by {k}")
    if self._dtype is not input2._dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {scalar_type_name(self._dtype)}"
                           f" and A of type {scalar_type_name(input2._dtype)} instead.")


def fake_cholesky_solve(self, input2, upper=False):
    require_tensor(input2, "cholesky_solve", "input2", 2)
    check_cholesky_solve(self, input2)
    refuse_others("cholesky_solve_cpu", self)
    batch = geometry.broadcast_shapes(self._shape[:-2], input2._shape[:-2])
    return fake_matrix((*batch, *self._shape[-2:]), self._dtype)


def cholesky_solve_vjp(grad, self, input2, result, upper, needs):
    """X = (L L^T)^-1 B: G_B = (L L^T)^-1 G, and G_L = -(G_B X^T + X G_B^T) L."""
    G_B = cholesky_solve(grad, input2, upper)
    if not needs[1]:
        return G_B, None
    moved = G_B @ result.mT
    moved = -(moved + moved.mT)
    return G_B, input2 @ moved if upper else moved @ input2


def cholesky_solve_jvp(self_t, input2_t, self, input2, result, upper):
    change = None
    if input2_t is not None:
        moved = input2_t.mT @ input2 if upper else input2_t @ input2.mT
        change = -((moved + moved.mT) @ result)
    return cholesky_solve(sum_terms(change, self_t), input2, upper)


@operator("cholesky_solve", fake=fake_cholesky_solve, jvp=cholesky_solve_jvp, vjp={"self, input2": cholesky_solve_vjp})
def cholesky_solve(self, input2, upper=False):
    """X with A X = self, where `input2` is the Cholesky factor of A: lower, or upper if `upper`."""
    require_square_arrays(input2)
    if self.ndim < 2 or self.dtype != input2.dtype:
        raise TypeError("cholesky_solve: operands that do not fit")
    return matrices.by_columns(solve_by_factor(self, input2, upper))


# ---- symmetric eigenvalues -------------------------------------------------------------------------------------

def fake_eigh(A, UPLO="L", compute_v=True):
    check_square("linalg.eigh", A)
    if not isinstance(UPLO, str):
        raise TypeError(f"linalg_eigh(): argument 'UPLO' (position 2) must be str, not {type(UPLO).__name__}")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    refuse_others("linalg_eigh_cpu", A)
    values = Fake(A._shape[:-1], A._dtype)
    return values, fake_matrix(A._shape, A._dtype) if compute_v else Fake((0,), A._dtype)


def gaps(values):
    """E_ij = l_j - l_i, with ones on the diagonal."""
    return values.unsqueeze(-2) - values.unsqueeze(-1) + identity_of(values)


def identity_of(values):
    return values.new_ones(values.shape[-1]).diag()


def skew(t):
    return t - t.mT


def eigh_vjp(grads, eigenvalues, eigenvectors):
    """G_A = V (diag(G_l) + skew(V^T G_V) / 2E) V^T (Giles 2008, section 3.1). Equal eigenvalues have no derivative
    of their vectors: the result is not finite."""
    G_l, G_V = grads
    V, inner = eigenvectors, None
    if G_V is not None:
        inner = skew(V.mT @ G_V) / (2 * gaps(eigenvalues))
    if G_l is not None:
        inner = sum_terms(inner, G_l.diag_embed())
    return None if inner is None else V @ inner @ V.mT


def eigh_jvp(A_t, eigenvalues, eigenvectors):
    """dl = diag(V^T dA V), dV = V (V^T dA V / E off the diagonal)."""
    V = eigenvectors
    moved = V.mT @ A_t @ V
    turned = moved / gaps(eigenvalues)
    return moved.diagonal(0, -2, -1), V @ (turned - turned.diagonal(0, -2, -1).diag_embed())


@operator("linalg._eigh", fake=fake_eigh, outputs=("eigenvalues", "eigenvectors"), spaces=(), vjp={"A": eigh_vjp},
          jvp=eigh_jvp)
def eigh_(A, UPLO="L", compute_v=True):
    """Eigenvalues in ascending order, and the vectors if wanted."""
    require_square_arrays(A)
    if not np.isfinite(A).all():
        raise LinAlgError(f"linalg.eigh: {first_failure(A)}The algorithm failed to converge because the input matrix is "
                          f"ill-conditioned or has too many repeated eigenvalues (error code: {A.shape[-1] - 1}).")
    if not compute_v:
        return np.linalg.eigvalsh(A, UPLO.upper()), np.empty(0, A.dtype)
    values, vectors = np.linalg.eigh(A, UPLO.upper())
    return values, matrices.by_columns(vectors)


def first_failure(A):
    """Where the first matrix with a value that is not finite stands in the batch, in PyTorch's words."""
    if A.ndim == 2:
        return ""
    bad = ~np.isfinite(A).all((-2, -1)).reshape(-1)
    return f"(Batch element {bad.argmax()}): "


@composite("linalg.eigh", out=True, outputs=("eigenvalues", "eigenvectors"), spaces=("linalg",))
def eigh(self, UPLO="L"):
    """(eigenvalues, eigenvectors) of symmetric matrices, ascending: A = V diag(l) V^T.

    UPLO "L" or "U": which triangle of A is read. The sign of each vector is free.
    """
    return return_type("linalg_eigh", ("eigenvalues", "eigenvectors"))(*eigh_(self, UPLO))


@composite("linalg.eigvalsh", out=True, spaces=("linalg",))
def eigvalsh(self, UPLO="L"):
    """The eigenvalues of symmetric matrices, ascending."""
    return eigh_(self, UPLO, wants_derivative(self))[0]


def wants_derivative(t):
    """Vectors are only computed along with the values where a derivative may need them."""
    return tracks(t) or tangent_of(t) is not None


# ---- singular values -------------------------------------------------------------------------------------------

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
    return (across - down) * (across + down) + identity_of(S)


def narrowed(t, dim, size):
    return None if t is None else t.narrow(dim, 0, size)


def svd_vjp(grads, U, S, Vh, full_matrices):
    """J. Townsend, "Differentiating the singular value decomposition" (2016). Of full matrices the further columns
    are ignored: they are free to turn, and a function of the factorisation cannot depend on them."""
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
    """With P = U^T dA V: dS = diag(P), dU = U (sym(X S) / E) and dV = V (sym(S X) / E) for X = P off the diagonal.

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
        raise LinAlgError(f"linalg.svd: {first_failure(A)}The algorithm failed to converge because the input matrix "
                          "contained non-finite values.")
    if not compute_uv:
        return np.empty(0, A.dtype), np.linalg.svd(A, compute_uv=False), np.empty(0, A.dtype)
    U, S, Vh = np.linalg.svd(A, full_matrices)
    return matrices.by_columns(U), S, matrices.by_columns(Vh)


def refuse_driver(driver):
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER "
                           "backend.")


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
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {self.dim()} dimensions "
                           "instead")
    results = return_type("svd", ("U", "S", "V"))
    if not compute_uv:
        *batch, m, n = self.shape
        return results(self.new_zeros((*batch, m, m)), svdvals(self), self.new_zeros((*batch, n, n)))
    U, S, Vh = svd_(self, not some)
    return results(U, S, Vh.mT)


# ---- QR --------------------------------------------------------------------------------------------------------

def fake_qr(A, mode="reduced"):
    if not isinstance(mode, str):
        raise TypeError(f"linalg_qr(): argument 'mode' (position 2) must be str, not {type(mode).__name__}")
    require_tensor(A, "linalg_qr", "A")
    check_matrix("linalg.qr", A)
    check_floating("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    refuse_others("geqrf_cpu", A)
    *batch, m, n = A._shape
    k = m if mode == "complete" else min(m, n)
    Q = Fake((0,), A._dtype) if mode == "r" else fake_matrix((*batch, m, k), A._dtype)
    return Q, fake_matrix((*batch, k, n), A._dtype)


def check_qr_derivative(mode, m, n):
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                           "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")


def qr_vjp(grads, A_shape, Q, R, mode):
    """A wide A = [A1 A2] has Q R1 = A1 and R2 = Q^T A2, so what reaches R2 goes on to A2 and to Q.

    H.-J. Liao et al., "Differentiable programming tensor networks" (2019), eq. 11; M. Seeger et al., "Auto-differentiating
    linear algebra" (2017).
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
    """With X = Q^T dA R^-1: Q^T dQ = W is skew with X's lower triangle, dR = (X - W) R, dQ = (dA - Q dR) R^-1."""
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
    return return_type("qr", ("Q", "R"))(*qr_(self, "reduced" if some else "complete"))
