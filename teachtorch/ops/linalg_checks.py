"""What operators on batches of matrices (..., m, n) ask of their arguments, and the error of a failed factorisation."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..tensor import array_of
from .fake import Fake, require_tensor


class LinAlgError(RuntimeError):
    """A factorisation or solution does not exist: the matrix is singular or not positive-definite."""


# ---- cheap checks of arrays, before a kernel; the fake rules find PyTorch's words --------------------------

def require_square_arrays(*arrays):
    for a in arrays:
        if a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.dtype.char not in "fd":
            raise TypeError(f"not square matrices of floats: {a.dtype}{list(a.shape)}")


def require_matrix_arrays(*arrays):
    for a in arrays:
        if a.ndim < 2 or a.dtype.char not in "fd":
            raise TypeError(f"not matrices of floats: {a.dtype}{list(a.shape)}")


# ---- PyTorch's errors --------------------------------------------------------------------------------------

def check_matrix(name, t, argument="A"):
    if len(t._shape) < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(name, t, argument="A"):
    require_tensor(t, name.replace(".", "_"), argument)
    check_matrix(name, t, argument)
    if t._shape[-1] != t._shape[-2]:
        raise RuntimeError(f"{name}: {argument} must be batches of square matrices, but they are "
                           f"{t._shape[-2]} by {t._shape[-1]} matrices")


def check_floating(name, t, allows_half=True):
    kind = scalar_type_name(t._dtype)
    if t._dtype.category != dt.FLOATING:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {kind}")
    if not allows_half and t._dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {kind}")


def refuse_others(kernel, t):
    """LAPACK has float32 and float64 only."""
    if t._dtype not in (dt.float32, dt.float64):
        raise NotImplementedError(f'"{kernel}" not implemented for \'{scalar_type_name(t._dtype)}\'')


def require_success(name, info, words):
    """LinAlgError where `info` (int32, one per matrix) is not 0; `words(code)` says what went wrong."""
    codes = array_of(info)
    if not codes.any():
        return
    batch = "" if codes.ndim == 0 else f"(Batch element {int(codes.reshape(-1).nonzero()[0][0])}): "
    code = int(codes.reshape(-1)[codes.reshape(-1).nonzero()[0][0]])
    raise LinAlgError(f"{name}: {batch}{words(code)}")


def not_invertible(code):
    return (f"The diagonal element {code} is zero, the inversion could not be completed because the input "
            "matrix is singular.")


def not_solvable(code):
    return "The solver failed because the input matrix is singular."


def not_positive_definite(code):
    return ("The factorization could not be completed because the input is not positive-definite (the "
            f"leading minor of order {code} is not positive-definite).")


def first_failure(A):
    """Where the first matrix with a value that is not finite stands in the batch, in PyTorch's words."""
    if A.ndim == 2:
        return ""
    bad = ~np.isfinite(A).all((-2, -1)).reshape(-1)
    return f"(Batch element {bad.argmax()}): "


# ---- shapes of results -------------------------------------------------------------------------------------

def by_columns_stride(shape):
    """Strides of a batch of matrices, each stored column by column; of single rows or columns, the usual ones."""
    *batch, m, n = shape
    if m <= 1 or n <= 1:
        return geometry.contiguous_strides(tuple(shape))
    *outer, _, _ = geometry.contiguous_strides((*batch, n, m))
    return (*outer, 1, m)


def fake_matrix(shape, dtype):
    """What a factorization returns: matrices that lie column by column."""
    return Fake(shape, dtype, by_columns_stride(shape))


def fake_info(batch):
    return Fake(batch, dt.int32)
