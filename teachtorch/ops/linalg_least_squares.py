"""The pseudo-inverse and least squares, by singular values. Matrices are (..., m, n).

G_X is the gradient of a result X, dA the tangent of the argument.
"""
import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..kernels import matrices
from ..tensor import Tensor
from .declare import composite, operator, publish
from .fake import Fake, require_tensor
from .linalg import sum_terms
from .linalg_checks import check_square, fake_matrix, require_matrix_arrays
from .return_types import return_type

# ---- the pseudo-inverse ------------------------------------------------------------------------------------

def tolerances(shape, dtype, atol, rtol):
    """(atol, rtol); without `atol`, rtol is by default eps * max(m, n)."""
    if rtol is None:
        is_relative = atol is None or not isinstance(atol, Tensor) and atol == 0
        rtol = np.finfo(dtype.numpy).eps * max(shape[-2:]) if is_relative else 0.0
    return 0.0 if atol is None else atol, rtol


def fake_pinv(self, atol=None, rtol=None, hermitian=False):
    require_tensor(self, "linalg_pinv", "input")
    if len(self._shape) < 2 or self._dtype not in (dt.float32, dt.float64):
        raise RuntimeError(f"linalg.pinv({scalar_type_name(self._dtype)}{{{list(self._shape)}}}): expected a "
                           "tensor with 2 or more dimensions of float, double, cfloat or cdouble types")
    if hermitian:
        check_square("linalg.eigh", self)
    *batch, m, n = self._shape
    return Fake((*batch, n, m), self._dtype)


def pinv_slope(first, A, X, second):
    """The two terms of the derivative that lie outside A's row and column spaces."""
    return first - A @ (X @ first) + second - (second @ X) @ A


def pinv_vjp(grad, self, result):
    """G. Golub and V. Pereyra, "The differentiation of pseudo-inverses" (1973), eq. 4.12, of a constant rank.

    dX = -X dA X + X X^T dA^T (I - A X) + (I - X A) dA^T X^T X, transposed.
    """
    A, X, G = self, result, grad
    inside = X.mT @ G @ X.mT
    return pinv_slope(G.mT @ (X @ X.mT), A, X, (X.mT @ X) @ G.mT) - inside


def pinv_jvp(self_t, self, result):
    A, X, dA = self, result, self_t
    return pinv_slope((dA.mT @ X.mT) @ X, X, A, X @ (X.mT @ dA.mT)) - X @ dA @ X


@operator("linalg._pinv", fake=fake_pinv, spaces=(), vjp={"self": pinv_vjp}, jvp=pinv_jvp)
def pinv_(self, atol=None, rtol=None, hermitian=False):
    """The pseudo-inverse; singular values up to the tolerance count as zero."""
    require_matrix_arrays(self)
    if self.size == 0:
        return np.zeros((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    U, S, Vh = matrices.symmetric_svd(self) if hermitian else np.linalg.svd(self, full_matrices=False)
    cut = np.maximum(np.asarray(atol)[..., None], np.asarray(rtol)[..., None] * S.max(-1, keepdims=True))
    kept = S > cut
    inverse = np.where(kept, 1 / np.where(kept, S, 1), 0).astype(self.dtype)
    return np.ascontiguousarray(matrices.transposed(Vh) @ (inverse[..., None] * matrices.transposed(U)))


@composite("linalg.pinv", out=True, spaces=("linalg",))
def pinv(self, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The Moore-Penrose pseudo-inverses (..., n, m), by singular values, or eigenvalues if `hermitian`.

    Singular values not above max(atol, rtol * largest) count as zero; `rcond` is the old name of `rtol`.
    """
    require_tensor(self, "linalg_pinv", "input")
    if self.dim() < 2:
        fake_pinv(self)
    atol, rtol = tolerances(self._shape, self._dtype, atol, rtol if rcond is None else rcond) \
        if self._dtype.is_floating_point else (0, 0)
    return pinv_(self, atol, rtol, hermitian)


def pinverse(input, rcond=1e-15):
    """The Moore-Penrose pseudo-inverses (..., n, m); singular values up to rcond * largest count as zero."""
    return pinv(input, rcond)


publish("pinverse", pinverse, ("", "Tensor"))


# ---- least squares -----------------------------------------------------------------------------------------

LSTSQ_RESULTS = ("solution", "residuals", "rank", "singular_values")
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def fake_lstsq(self, b, rcond=None, driver="gelsy"):
    name = "torch.linalg.lstsq"
    require_tensor(self, "linalg_lstsq", "input")
    require_tensor(b, "linalg_lstsq", "b", 2)
    if len(self._shape) < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if not b._shape:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if not 0 <= len(self._shape) - len(b._shape) <= 1:
        raise RuntimeError(f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
                           "other.dim()) <= 1")
    check_lstsq_operands(name, self, b, driver)
    return lstsq_results(self, b, driver)


def check_lstsq_operands(name, self, b, driver):
    if self._dtype not in (dt.float32, dt.float64):
        raise RuntimeError("This function doesn't handle types other than float and double")
    if self._dtype is not b._dtype:
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype, but got input's dtype "
                           f"{scalar_type_name(self._dtype)} and other's dtype {scalar_type_name(b._dtype)}")
    if driver not in DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of ({', '.join(DRIVERS)})")
    if b._shape[-1 if is_vectors(self._shape, b._shape) else -2] != self._shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match "
                           f"other.size(-{1 if is_vectors(self._shape, b._shape) else 2})")


def is_vectors(shape, other):
    """Whether `other` holds a vector for each matrix."""
    return len(shape) - 1 == len(other)


def lstsq_results(self, b, driver):
    *batch, m, n = self._shape
    vectors = is_vectors(self._shape, b._shape)
    count = 1 if vectors else b._shape[-1]
    batch = geometry.broadcast_shapes(tuple(batch), b._shape[:-1] if vectors else b._shape[:-2])
    has_residuals = m > n and driver != "gelsy"
    return (solution_fake(batch, m, n, count, vectors, self._dtype),
            Fake((*batch, count) if has_residuals else (0,), self._dtype),
            Fake((0,) if driver == "gels" else batch, dt.int64),
            Fake((*batch, min(m, n)) if driver in ("gelsd", "gelss") else (0,), self._dtype))


def solution_fake(batch, m, n, count, vectors, dtype):
    return Fake((*batch, n), dtype) if vectors else fake_matrix((*batch, n, count), dtype)


def lstsq_vjp(grads, self, b, solution, needs):
    """solution = pinv(A) B and residuals = sum((A X - B)^2): by the derivatives of the pseudo-inverse and
    the square."""
    G_X, G_R = grads[0], grads[1]
    vectors = is_vectors(self._shape, b._shape)
    B, X = (b.unsqueeze(-1), solution.unsqueeze(-1)) if vectors else (b, solution)
    G_X = G_X.unsqueeze(-1) if vectors and G_X is not None else G_X
    G_A = G_B = None
    if G_R is not None and G_R.numel():
        slope = 2 * G_R.unsqueeze(-2) * (self @ X - B)
        G_A, G_B = slope @ X.mT, -slope
        G_X = sum_terms(G_X, self.mT @ slope)
    if G_X is not None:
        inverse = pinv(self)
        G_B = sum_terms(G_B, inverse.mT @ G_X)
        G_A = sum_terms(G_A, pinv_vjp(G_X @ B.mT, self, inverse))
    return G_A, G_B.squeeze(-1) if vectors and G_B is not None else G_B


def lstsq_jvp(self_t, b_t, self, b, solution, residuals):
    vectors = is_vectors(self._shape, b._shape)
    B, X, dB = [t.unsqueeze(-1) if vectors and t is not None else t for t in (b, solution, b_t)]
    inverse = pinv(self)
    dX = None if dB is None else inverse @ dB
    if self_t is not None:
        dX = sum_terms(dX, pinv_jvp(self_t, self, inverse) @ B)
    error = self @ X - B
    moved = sum_terms(self @ dX, None if self_t is None else self_t @ X, None if dB is None else -dB)
    d_residuals = 2 * (error * moved).sum(-2) if residuals.numel() else None
    return dX.squeeze(-1) if vectors else dX, d_residuals, None, None


@operator("linalg._lstsq", fake=fake_lstsq, outputs=LSTSQ_RESULTS, spaces=(),
          vjp={"self, b": lstsq_vjp}, jvp=lstsq_jvp)
def lstsq_(self, b, rcond=None, driver="gelsy"):
    """By singular values, whatever the driver; the driver says what is reported."""
    require_matrix_arrays(self)
    if self.dtype != b.dtype or not 0 <= self.ndim - b.ndim <= 1 or driver not in DRIVERS:
        raise TypeError("linalg.lstsq: operands that do not fit")
    vectors = is_vectors(self.shape, b.shape)
    X, S, rank, error = least_squares(self, b[..., None] if vectors else b, rcond, driver)
    m, n = self.shape[-2:]
    none = np.empty(0, self.dtype)
    return (np.array(X[..., 0]) if vectors else matrices.by_columns(X),
            np.square(error).sum(-2) if m > n and driver != "gelsy" and (rank == n).all() else none,
            np.empty(0, np.int64) if driver == "gels" else rank, S if driver in ("gelsd", "gelss") else none)


def least_squares(A, B, rcond, driver):
    """(X, singular values, rank, A X - B) of the smallest X that minimises |A X - B|."""
    shape = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    A, B = np.broadcast_to(A, (*shape, *A.shape[-2:])), np.broadcast_to(B, (*shape, *B.shape[-2:]))
    U, S, Vh = np.linalg.svd(A, full_matrices=False)
    rcond = np.finfo(A.dtype).eps * max(A.shape[-2:]) if rcond is None else rcond
    kept = (S > rcond * S.max(-1, initial=0, keepdims=True)) | (driver == "gels")
    inverse = np.where(kept, 1 / np.where(kept, S, 1), 0).astype(A.dtype)
    X = matrices.transposed(Vh) @ (inverse[..., None] * (matrices.transposed(U) @ B))
    return X, S, kept.sum(-1), A @ X - B


@composite("linalg.lstsq", out=True, outputs=LSTSQ_RESULTS, spaces=("linalg",))
def lstsq(self, b, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values) of min |A X - B|; `b` (..., m, k), or vectors (..., m).

    `driver`: "gels" (full rank), "gelsy" (the default), "gelsd" or "gelss"; what a driver does not compute is
    empty.
    """
    solution, residuals, rank, singular_values = lstsq_(self, b, rcond, driver or "gelsy")
    return return_type("linalg_lstsq", LSTSQ_RESULTS)(solution, residuals, rank, singular_values.detach())
