"""Householder QR in LAPACK's form, and approximations of low rank from random projections (Halko et al. 2011)."""
import numpy as np

from ..core.dtype import scalar_type_name
from ..kernels import matrices
from .declare import composite, exports, operator, publish
from .fake import Fake
from .linalg_checks import fake_matrix, refuse_others, require_matrix_arrays


# ---- geqrf and ormqr -----------------------------------------------------------------------------------------

def fake_geqrf(input):
    if len(input._shape) < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    refuse_others("geqrf_cpu", input)
    *batch, m, n = input._shape
    return fake_matrix(input._shape, input._dtype), Fake((*batch, min(m, n)), input._dtype)


def refuse_derivative(grads):
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")


@operator("geqrf", fake=fake_geqrf, outputs=("a", "tau"), vjp={"input": refuse_derivative})
def geqrf(input):
    """(a, tau): R of A = Q R on and above the diagonal of `a`, below it the reflections that `householder_product`
    multiplies to Q."""
    require_matrix_arrays(input)
    if not input.size:
        return input.copy(), np.zeros((*input.shape[:-2], min(input.shape[-2:])), input.dtype)
    turned, tau = np.linalg.qr(input, mode="raw")
    return matrices.by_columns(matrices.transposed(turned)).astype(input.dtype), tau.astype(input.dtype)


@composite("ormqr", out=True)
def ormqr(self, input2, input3, left=True, transpose=False):
    """Q C, or C Q if not `left`, for the Q of `geqrf`'s reflections (self, tau = input2) and C = input3; Q^T for
    `transpose`. RuntimeError for shapes or dtypes that do not fit each other; batches must be the same."""
    check_ormqr(self, input2, input3, left)
    refuse_others("ormqr_cpu", self)
    Q = whole_orthogonal(self, input2)
    Q = Q.mT if transpose else Q
    found = Q @ input3 if left else input3 @ Q
    return found.mT.contiguous().mT                                 # column by column, as LAPACK has it


def check_ormqr(a, tau, other, left):
    for name, t in (("input", a), ("other", other)):
        if t.dim() < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    side = -2 if left else -1
    if other._shape[side] != a._shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau._shape[-1:] != (min(a._shape[-2:]),):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    check_batches(a, tau, other)
    for name, t in (("tau", tau), ("other", other)):
        if t._dtype is not a._dtype:
            raise RuntimeError(f"torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype"
                               f"{scalar_type_name(a._dtype)} and {name} has dtype {scalar_type_name(t._dtype)}")


def check_batches(a, tau, other):
    start = "torch.ormqr: Expected"
    if tau.dim() != a.dim() - 1:
        raise RuntimeError(f"{start} tau to have one dimension less than input, but got tau.ndim equal to {tau.dim()} "
                           f"and input.ndim is equal to {a.dim()}")
    if other.dim() != a.dim():
        raise RuntimeError(f"{start} other to have the same number of dimensions as input, but got other.ndim equal to "
                           f"{other.dim()} and input.ndim is equal to {a.dim()}")
    for name, batch in (("tau", tau._shape[:-1]), ("other", other._shape[:-2])):
        if batch != a._shape[:-2]:
            raise RuntimeError(f"{start} batch dimensions of {name} to be equal to input.shape[:-2], but got "
                               f"{list(batch)}")


def whole_orthogonal(a, tau):
    """The square Q: reflections that are not there are ones by tau = 0."""
    *batch, m, n = a.shape
    pad = exports["nn.functional"]["pad"]
    square = pad(a, (0, max(m - n, 0)))[..., :m]
    return exports["linalg"]["householder_product"](square, pad(tau, (0, m - tau.shape[-1])))


# ---- low rank ------------------------------------------------------------------------------------------------

def range_basis(A, q, niter):
    """Orthonormal columns (..., m, q) whose span nearly holds that of A: A times random columns, refined `niter`
    times by A A^T."""
    qr = exports["linalg"]["qr"]
    Q = qr(A @ exports[""]["randn"](A.shape[-1], q, dtype=A.dtype, device=A.device)).Q
    for _ in range(niter):
        Q = qr(A @ qr(A.mT @ Q).Q).Q
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V) with A ≈ U diag(S) V^T of rank q: U (..., m, q), S (..., q), V (..., n, q); of A - M if M is given.

    Random: it draws from the global generator.
    """
    q = 6 if q is None else q
    A = A if M is None else A - M.broadcast_to(A.shape)
    m, n = A.shape[-2:]
    transposed = A.mT if m < n else A
    Q = range_basis(transposed, q, niter)
    U, S, Vh = exports["linalg"]["svd"](Q.mT @ transposed, full_matrices=False)
    U, V = Q @ U, Vh.mT
    return (V, S, U) if m < n else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    """Principal components: svd_lowrank of A less the mean of its rows. ValueError for a q beyond min(m, n)."""
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean((-2,), keepdim=True) if center else A, q, niter)


for _function in (svd_lowrank, pca_lowrank):
    publish(_function.__name__, _function, ("",))
