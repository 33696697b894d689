"""Factorisations of symmetric matrices (..., n, n): Cholesky and eigenvalues.

G_X is the gradient of a result X, dA the tangent of the argument. The derivatives are found by
differentiating the factorisation and the constraints on its factors: triangular, or orthogonal and diagonal.
"""
import numpy as np

from ..autograd.forward_ad import tangent_of
from ..autograd.meta import tracks
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..kernels import matrices
from .declare import composite, operator
from .fake import Fake, require_tensor
from .linalg import identity_like, solve_triangular_, sum_terms
from .linalg_checks import (LinAlgError, check_floating, check_square, fake_info, fake_matrix, first_failure,
                            not_positive_definite, refuse_others, require_square_arrays, require_success)
from .linalg_older import warn_of_older
from .return_types import return_type


# ---- Cholesky ----------------------------------------------------------------------------------------------

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
    warn_of_older("cholesky")
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
        raise LinAlgError(f"cholesky_inverse: {where}The diagonal element {k + 1} is zero, the inversion "
                          "could not be completed because the input matrix is singular.")
    return matrices.by_columns(solve_by_factor(np.eye(self.shape[-1], dtype=self.dtype), self, upper))


def solve_by_factor(b, factor, upper):
    """A^-1 b for A = L L^T, or A = U^T U if `upper`."""
    lower = matrices.transposed(factor) if upper else factor
    half = matrices.solve_triangular(lower, b, False)
    return matrices.solve_triangular(matrices.transposed(lower), half, True)


def check_cholesky_solve(self, input2):
    for name, t in (("b", self), ("u", input2)):
        if t.dim() < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {t.dim()} dimensions "
                               "instead")
    if input2.shape[-1] != input2.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {input2.shape[-2]} by "
                           f"{input2.shape[-1]} matrices")
    if input2.shape[-1] != self.shape[-2]:
        n, k = self.shape[-2:]
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is "
                           f"{input2.shape[-1]} by {input2.shape[-1]} but each b matrix is {n} by {k}")
    if self._dtype is not input2._dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type "
                           f"{scalar_type_name(self._dtype)}"
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


@operator("cholesky_solve", fake=fake_cholesky_solve, jvp=cholesky_solve_jvp,
          vjp={"self, input2": cholesky_solve_vjp})
def cholesky_solve(self, input2, upper=False):
    """X with A X = self, where `input2` is the Cholesky factor of A: lower, or upper if `upper`."""
    require_square_arrays(input2)
    if self.ndim < 2 or self.dtype != input2.dtype:
        raise TypeError("cholesky_solve: operands that do not fit")
    return matrices.by_columns(solve_by_factor(self, input2, upper))


# ---- symmetric eigenvalues ---------------------------------------------------------------------------------

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
    return values.unsqueeze(-2) - values.unsqueeze(-1) + identity_like(values)


def skew(t):
    return t - t.mT


def eigh_vjp(grads, eigenvalues, eigenvectors):
    """G_A = V (diag(G_l) + skew(V^T G_V) / 2E) V^T (Giles 2008, section 3.1). Equal eigenvalues have no
    derivative of their vectors: the result is not finite."""
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


@operator("linalg._eigh", fake=fake_eigh, outputs=("eigenvalues", "eigenvectors"), spaces=(),
          vjp={"A": eigh_vjp},
          jvp=eigh_jvp)
def eigh_(A, UPLO="L", compute_v=True):
    """Eigenvalues in ascending order, and the vectors if wanted."""
    require_square_arrays(A)
    if not np.isfinite(A).all():
        raise LinAlgError(f"linalg.eigh: {first_failure(A)}The algorithm failed to converge because the "
                          "input matrix is ill-conditioned or has too many repeated eigenvalues (error "
                          f"code: {A.shape[-1] - 1}).")
    if not compute_v:
        return np.linalg.eigvalsh(A, UPLO.upper()), np.empty(0, A.dtype)
    values, vectors = np.linalg.eigh(A, UPLO.upper())
    return values, matrices.by_columns(vectors)


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
