"""Determinants, inverses, linear systems and what is made of them (torch.linalg). Matrices are (..., m, n).

Derivatives: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), unless another source is named. G is the gradient of a result, dA the tangent of an
argument.
"""
import numpy as np

from ..core import geometry
from ..core.dtype import scalar_type_name
from ..core.layout import contiguous_format
from ..kernels import matrices
from .declare import composite, exports, operator, publish, taking_out
from .fake import Fake
from .linalg_checks import (LinAlgError, by_columns_stride, check_floating, check_matrix, check_square,
                            fake_info, fake_matrix, not_invertible, not_solvable, refuse_others,
                            require_square_arrays, require_success)
from .linalg_older import warn_of_older
from .return_types import return_type

publish("LinAlgError", LinAlgError, ("linalg",))


def sum_terms(*terms):
    """The sum of the terms that are not None, or None."""
    found = None
    for term in terms:
        if term is not None:
            found = term if found is None else found + term
    return found


def as_factor(t):
    """A batch of numbers (...) as (..., 1, 1), to scale matrices with."""
    return t.unsqueeze(-1).unsqueeze(-1)


def identity_like(t):
    """The identity matrix of a batch of square matrices' size, (n, n)."""
    return t.new_ones(t.shape[-1]).diag()


# ---- determinants ------------------------------------------------------------------------------------------

def cofactors(A, det):
    """The derivative of the determinant, det(A) A^-T; of a singular matrix by its singular vectors.

    The cofactors of U S V^T are det(U) det(V) U C V^T, where C_ii is the product of all S but S_i (N. Higham,
    "What is the adjugate of a matrix?", 2020). PyTorch returns zeros for a matrix that is exactly singular.
    """
    if not bool((det == 0).any()):
        return as_factor(det) * inv(A).mT
    u, s, vh = exports["linalg"]["svd"](A)
    others = s.unsqueeze(-2).masked_fill(identity_like(A).bool(), 1).prod(-1)
    return as_factor(u.det() * vh.det()) * ((u * others.unsqueeze(-2)) @ vh)


def det_jvp(A_t, A, result):
    return (A_t * cofactors(A, result)).sum((-2, -1))


def fake_det(A):
    check_square("linalg.det", A)
    check_floating("linalg.det", A)
    refuse_others("lu_cpu", A)
    return Fake(A._shape[:-2], A._dtype)


@operator("linalg.det", fake=fake_det, jvp=det_jvp, spaces=("linalg",), vjp={
    "A": lambda grad, A, result: as_factor(grad) * cofactors(A, result)})
def det(A):
    """The determinants of square matrices (..., n, n), as (...)."""
    require_square_arrays(A)
    return np.asarray(np.linalg.det(A), A.dtype)


def torch_det(input):
    """The determinants of square matrices (..., n, n), as (...)."""
    return det(input)


publish("det", torch_det, ("", "Tensor"))


def fake_slogdet(A):
    check_square("linalg.slogdet", A)
    check_floating("linalg.slogdet", A, allows_half=False)
    return Fake(A._shape[:-2], A._dtype), Fake(A._shape[:-2], A._dtype)


@operator("linalg._slogdet", fake=fake_slogdet, outputs=("sign", "logabsdet"), spaces=(),
          vjp={"A": lambda grads, A: slogdet_gradient(grads[1], A)},
          jvp=lambda A_t, A, sign: (sign * 0, (A_t * transposed_inverse(A)).sum((-2, -1))))
def slogdet_(A):
    """Sign and logarithm of the absolute value of the determinants."""
    require_square_arrays(A)
    return tuple(np.asarray(part, A.dtype) for part in np.linalg.slogdet(A))


def slogdet_gradient(grad, A):
    """The logarithm of |det A| has the derivative A^-T; the sign is constant."""
    return None if grad is None else as_factor(grad) * transposed_inverse(A)


def transposed_inverse(A):
    return inv_ex(A)[0].mT


SIGN_AND_LOGARITHM = ("sign", "logabsdet")


@composite("linalg.slogdet", out=True, outputs=SIGN_AND_LOGARITHM, spaces=("linalg",))
def slogdet(A):
    """(sign, logabsdet) of the determinants: det = sign * exp(logabsdet), without overflow."""
    return return_type("linalg_slogdet", SIGN_AND_LOGARITHM)(*slogdet_(A))


def torch_slogdet(input):
    """(sign, logabsdet) of the determinants: det = sign * exp(logabsdet), without overflow."""
    return return_type("slogdet", SIGN_AND_LOGARITHM)(*slogdet_(input))


torch_slogdet.__name__ = "slogdet"
publish("slogdet", taking_out(torch_slogdet), ("", "Tensor"))


@composite("logdet")
def logdet(A):
    """The logarithm of the determinants; NaN where one is negative."""
    check_square("logdet", A)
    sign, logarithm = slogdet_(A)
    return logarithm.masked_fill(sign == -1, float("nan"))


# ---- inverses ----------------------------------------------------------------------------------------------

def fake_inverse(A):
    check_square("linalg.inv", A)
    check_floating("linalg.inv", A, allows_half=False)
    return fake_matrix(A._shape, A._dtype), fake_info(A._shape[:-2])


@operator("linalg._inv_ex", fake=fake_inverse, outputs=("inverse", "info"), spaces=(),
          vjp={"A": lambda grads, inverse: -(inverse.mT @ grads[0] @ inverse.mT)},
          jvp=lambda A_t, inverse: (-(inverse @ A_t @ inverse), None))
def inv_ex_(A):
    """The inverses, and 0 or the place of the zero that elimination met."""
    require_square_arrays(A)
    return matrices.invert(A)


@composite("linalg.inv_ex", out=True, outputs=("inverse", "info"), spaces=("linalg",))
def inv_ex(A, *, check_errors=False):
    """(inverse, info): `info` is 0, or the first diagonal element of U in A = P L U that is zero."""
    return inverse_of(A, "linalg.inv_ex" if check_errors else None)


def inverse_of(A, checked_name):
    found = return_type("linalg_inv_ex", ("inverse", "info"))(*inv_ex_(A))
    if checked_name:
        require_success(checked_name, found.info, not_invertible)
    return found


@composite("linalg.inv", out=True, spaces=("linalg",))
def inv(A):
    """The inverses of square matrices. LinAlgError for a singular one."""
    return inverse_of(A, "linalg.inv")[0]


publish("inverse", inv, ("", "Tensor"))


# ---- linear systems ----------------------------------------------------------------------------------------

def is_vector_case(a_shape, b_shape):
    """Whether B is one vector, or one for each matrix A, rather than matrices."""
    return len(b_shape) == 1 or len(a_shape) - 1 == len(b_shape) and a_shape[:-1] == b_shape


def fake_solve(A, B, left=True):
    check_square("linalg.solve", A)
    check_floating("linalg.solve", A)
    if A._dtype is not B._dtype:
        raise RuntimeError("linalg.solve: Expected A and B to have the same dtype, but found A of type "
                           f"{scalar_type_name(A._dtype)} and B of type {scalar_type_name(B._dtype)} instead")
    shape = solution_shape("linalg.solve", A, B, left)
    refuse_others("lu_cpu", A)
    stride = by_columns_stride(shape) if left and len(shape) > 1 else None
    return Fake(shape, A._dtype, stride), fake_info(A._shape[:-2])


def solution_shape(name, A, B, left):
    """The shape of X in A X = B (X A = B if not `left`); RuntimeError where the shapes do not fit."""
    is_vector = is_vector_case(A._shape, B._shape)
    if not is_vector:
        check_matrix(name, B, "B")
    columns = (*B._shape, 1) if is_vector else B._shape
    if columns[-2 if left else -1] != A._shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} "
                           f"({A._shape[-2]}x{A._shape[-1]} and {columns[-2]}x{columns[-1]})")
    batch = geometry.broadcast_shapes(A._shape[:-2], columns[:-2])
    return (*batch, *columns[-2:-1]) if is_vector else (*batch, *columns[-2:])


def solve_vjp(grads, A, B_shape, left, result, needs):
    """X = A^-1 B: dX = A^-1 (dB - dA X), so G_B = A^-T G and G_A = -G_B X^T; transposed where X A = B."""
    if grads[0] is None:
        return None, None
    G_B = solve_ex_(A.mT, grads[0], left)[0]
    if not needs[0]:
        return None, G_B
    if is_vector_case(A._shape, B_shape):
        return -(G_B.unsqueeze(-1) @ result.unsqueeze(-2)), G_B
    return -(G_B @ result.mT if left else result.mT @ G_B), G_B


def solve_jvp(A_t, B_t, A, B, left, result):
    change = None
    if A_t is not None:
        if is_vector_case(A._shape, B._shape):
            change = -(A_t @ result.unsqueeze(-1)).squeeze(-1)
        else:
            change = -(A_t @ result if left else result @ A_t)
    return solve_ex_(A, sum_terms(change, B_t).expand(result._shape), left)[0], None


@operator("linalg._solve_ex", fake=fake_solve, outputs=("result", "info"), spaces=(), vjp={"A, B": solve_vjp},
          jvp=solve_jvp)
def solve_ex_(A, B, left=True):
    """X with A X = B (X A = B), and the info of A's elimination."""
    require_square_arrays(A)
    is_vector = is_vector_case(A.shape, B.shape)
    fits = is_vector and (left or A.shape[-1] == 1) or not is_vector and B.ndim > 1
    if A.dtype != B.dtype or not fits:
        raise TypeError("linalg.solve: operands that do not fit")
    if is_vector:
        found, info = matrices.solve(A, B[..., None])
        found = found[..., 0]
        return (matrices.by_columns(found) if found.ndim > 1 else np.array(found)), info
    if left:
        return matrices.solve(A, B)
    found, info = matrices.solve(matrices.transposed(A), matrices.transposed(B))
    return np.ascontiguousarray(matrices.transposed(found)), info


@composite("linalg.solve_ex", out=True, outputs=("result", "info"), spaces=("linalg",))
def solve_ex(A, B, *, left=True, check_errors=False):
    """(result, info) of A X = B; `info` is not 0 for a singular matrix."""
    found = return_type("linalg_solve_ex", ("result", "info"))(*solve_ex_(A, B, left))
    if check_errors:
        require_success("linalg.solve_ex", found.info, not_solvable)
    return found


@composite("linalg.solve", out=True, spaces=("linalg",))
def solve(A, B, *, left=True):
    """X with A X = B, or X A = B if not `left`; B is a vector (n), vectors (..., n) or matrices (..., n, k).

    LinAlgError for a singular matrix.
    """
    found, info = solve_ex_(A, B, left)
    require_success("torch.linalg.solve", info, not_solvable)
    return found


def fake_solve_triangular(self, B, upper=True, left=True, unitriangular=False):
    name = "linalg.solve_triangular"
    check_square(name, self)
    check_matrix(name, B, "B")
    refuse_others("triangular_solve_cpu", self)
    side = B._shape[-2 if left else -1]
    if side != self._shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} "
                           f"({self._shape[-2]}x{self._shape[-1]} and {B._shape[-2]}x{B._shape[-1]})")
    shape = (*geometry.broadcast_shapes(self._shape[:-2], B._shape[:-2]), *B._shape[-2:])
    return fake_matrix(shape, self._dtype)


def half_of(t, upper, unitriangular):
    """The triangle that a triangular solve reads."""
    return t.triu(1 if unitriangular else 0) if upper else t.tril(-1 if unitriangular else 0)


def triangular_vjp(grad, self, result, upper, left, unitriangular, needs):
    """As of `solve`, of which only the triangle that was read has a derivative."""
    G_B = solve_triangular_(self.mT, grad, not upper, left, unitriangular)
    if not needs[0]:
        return None, G_B
    return half_of(-(G_B @ result.mT if left else result.mT @ G_B), upper, unitriangular), G_B


def triangular_jvp(self_t, B_t, self, result, upper, left, unitriangular):
    change = None
    if self_t is not None:
        moved = half_of(self_t, upper, unitriangular)
        change = -(moved @ result if left else result @ moved)
    return solve_triangular_(self, sum_terms(change, B_t), upper, left, unitriangular)


@operator("linalg._solve_triangular", fake=fake_solve_triangular, jvp=triangular_jvp, spaces=(),
          vjp={"self, B": triangular_vjp})
def solve_triangular_(self, B, upper=True, left=True, unitriangular=False):
    """X with A X = B (X A = B) of a triangular A."""
    require_square_arrays(self)
    if B.ndim < 2:
        raise TypeError("linalg.solve_triangular: B must be matrices")
    B = B.astype(self.dtype, copy=False)
    return matrices.by_columns(matrices.solve_triangular(self, B, upper, left, unitriangular))


@composite("linalg.solve_triangular", out=True, spaces=("linalg",))
def solve_triangular(self, B, *, upper, left=True, unitriangular=False):
    """X with A X = B, or X A = B if not `left`, of a triangular A whose other half is not read.

    `unitriangular`: the diagonal is taken to be ones. A zero on the diagonal gives infinities.
    """
    return solve_triangular_(self, B, upper, left, unitriangular)


@composite("triangular_solve", out=True, outputs=("solution", "cloned_coefficient"))
def triangular_solve(self, A, upper=True, transpose=False, unitriangular=False):
    """(solution, cloned_coefficient) of A X = self for a triangular A."""
    warn_of_older("triangular_solve")
    solution = solve_triangular_(A.mT if transpose else A, self, upper != transpose, True, unitriangular)
    cloned = A.mT.clone(memory_format=contiguous_format).mT
    return return_type("triangular_solve", ("solution", "cloned_coefficient"))(solution, cloned)


# ---- the exponential ---------------------------------------------------------------------------------------

def fake_exponential(self):
    check_square("linalg.matrix_exp", self)
    check_floating("linalg.matrix_exp", self)
    return Fake(self._shape, self._dtype)


def exponential_derivative(A, direction):
    """The derivative of e^A in a direction E: the upper right block of exp([[A, E], [0, A]]).

    N. Higham, "Functions of Matrices" (2008), eq. 3.16.
    """
    n = A.shape[-1]
    shape = geometry.broadcast_shapes(A._shape, direction._shape)
    A, direction = A.expand(shape), direction.expand(shape)
    cat = exports[""]["cat"]
    rows = [cat([A, direction], -1), cat([A.new_zeros(shape), A], -1)]
    return matrix_exp_(cat(rows, -2))[..., :n, n:]


@operator("linalg._matrix_exp", fake=fake_exponential, spaces=(),
          vjp={"self": lambda grad, self: exponential_derivative(self.mT, grad)},
          jvp=lambda self_t, self: exponential_derivative(self, self_t))
def matrix_exp_(self):
    """e^A."""
    wide = self.astype(np.float32) if self.dtype.itemsize == 2 else self
    if wide.dtype.char not in "fd" or self.ndim < 2:
        raise TypeError("matrix_exp of an array that is no batch of float matrices")
    return np.ascontiguousarray(matrices.exponential(wide), self.dtype)


@composite("matrix_exp")
def matrix_exp(self):
    """The exponentials I + A + A^2 / 2! + ... of square matrices."""
    return matrix_exp_(self)


publish("matrix_exp", matrix_exp, ("linalg",))
