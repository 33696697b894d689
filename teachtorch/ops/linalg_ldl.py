"""LDL factorisations of symmetric matrices (..., n, n), and systems solved by them.

P^T A P = L D L^T, where D has blocks of 1 and 2 by 2: what a Cholesky factorisation is for matrices that are not
positive-definite. As in PyTorch there are no derivatives: a backward that reaches these operators raises RuntimeError.
"""
from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..kernels import ldl
from .declare import composite, operator
from .fake import Fake
from .linalg_checks import (check_floating, check_square, fake_info, fake_matrix, refuse_others,
                            require_matrix_arrays, require_square_arrays, require_success)
from .pointwise import name_not_implemented, no_formula
from .return_types import return_type


def fake_factor(A):
    check_square("torch.linalg.ldl_factor_ex", A)
    check_floating("torch.linalg.ldl_factor_ex", A)
    refuse_others("ldl_factor_kernel_cpu", A)
    return fake_matrix(A._shape, A._dtype), Fake(A._shape[:-1], dt.int32), fake_info(A._shape[:-2])


def refuse_factors(grads):
    return no_formula("linalg_ldl_factor_ex")(grads)


@operator("linalg._ldl_factor_ex", fake=fake_factor, outputs=("LD", "pivots", "info"), spaces=(),
          vjp={"A": refuse_factors})
def ldl_factor_ex_(A):
    """L and D in one matrix, the exchanges of rows, and info."""
    require_square_arrays(A)
    return ldl.ldl_factor(A)


def factored(A, checked_name):
    found = return_type("linalg_ldl_factor_ex", ("LD", "pivots", "info"))(*ldl_factor_ex_(A))
    if checked_name:
        require_success(checked_name, found.info, singular)
    return found


def singular(code):
    return f"D[{code},{code}] is zero, and using it on ldl_solve would result in a division by zero."


@composite("linalg.ldl_factor_ex", out=True, outputs=("LD", "pivots", "info"), spaces=("linalg",))
def ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    """(LD, pivots, info) of symmetric matrices (..., n, n), of which the lower triangles are read.

    `pivots` is int32 and counts from 1: k > 0 where the row changed places with row k; a block of two has -k twice, its
    second row changed places with row k. `info` (int32) is 0, or the first k with a zero D[k, k]; LinAlgError for it if
    `check_errors`. `hermitian` makes no difference without complex numbers.
    """
    return factored(A, "linalg.ldl_factor_ex" if check_errors else None)


@composite("linalg.ldl_factor", out=True, outputs=("LD", "pivots"), spaces=("linalg",))
def ldl_factor(A, *, hermitian=False):
    """(LD, pivots) for `linalg.ldl_solve`. LinAlgError where D has a zero on its diagonal."""
    return return_type("linalg_ldl_factor", ("LD", "pivots"))(*factored(A, "linalg.ldl_factor")[:2])


def fake_solve(LD, pivots, B):
    name = "torch.linalg.ldl_solve"
    check_solve(name, LD, pivots, B)
    refuse_others("ldl_solve_kernel_cpu", LD)
    batch = geometry.broadcast_shapes(LD._shape[:-2], B._shape[:-2])
    return fake_matrix((*batch, *B._shape[-2:]), LD._dtype)


def check_solve(name, LD, pivots, B):
    check_square(name, LD)
    check_floating(name, LD)
    if len(B._shape) < 2:
        geometry.wrap_dim(-2, len(B._shape))
    if B._shape[-2] != LD._shape[-1]:
        n, m = LD._shape[-1], B._shape[-2]
        raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is "
                           f"{m} by {B._shape[-1]}")
    if pivots._dtype.is_floating_point or pivots._dtype is dt.bool:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {scalar_type_name(pivots._dtype)}")
    if pivots._shape != LD._shape[:-1]:
        raise RuntimeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(pivots._shape)} instead")
    if LD._dtype is not B._dtype:
        raise RuntimeError("Expected b and A to have the same dtype, but found b of type "
                           f"{scalar_type_name(B._dtype)} and A of type {scalar_type_name(LD._dtype)} instead.")


@operator("linalg._ldl_solve", fake=fake_solve, spaces=(),
          vjp={"LD": no_formula("linalg_ldl_solve"), "B": no_formula("linalg_ldl_solve")})
def ldl_solve_(LD, pivots, B):
    """X with A X = B."""
    require_square_arrays(LD)
    require_matrix_arrays(B)
    fits = pivots.dtype.kind in "iu" and pivots.shape == LD.shape[:-1] and B.shape[-2] == LD.shape[-1]
    if LD.dtype != B.dtype or not fits:
        raise TypeError("linalg.ldl_solve: operands that do not fit")
    return ldl.ldl_solve(LD, pivots, B)


@composite("linalg.ldl_solve", out=True, spaces=("linalg",))
def ldl_solve(LD, pivots, B, *, hermitian=False):
    """X (..., n, k) with A X = B, from `ldl_factor(A)`; batches broadcast."""
    return ldl_solve_(LD, pivots, B)


for _op in ("linalg._ldl_factor_ex", "linalg._ldl_solve"):
    name_not_implemented(_op)
