"""Products with sparse matrices: one step per entry and column, instead of one per element."""
import numpy as np

from ...core import geometry
from ...core.layout import sparse_coo
from ...dispatch.operator import registry
from ...kernels import sparse as kernels
from ...tensor import array_of, from_array
from ..declare import exports, publish
from ..matmul import check_multiplies, same_scalar_type
from ..matmul_sums import scaled
from ..sequences import number_in
from .declare import (
    is_sparse,
    on_sparse,
    parts,
    sparse,
    sparse_dims,
    sparse_operator,
)
from .reading import coalesced, require_inside


def check_matrices(sparse_one, other):
    """What a sparse times a dense matrix asks for, in PyTorch's words and order."""
    if sparse_dims(sparse_one) != 2:
        raise RuntimeError(f"addmm: matrices expected, got {sparse_dims(sparse_one)}D tensor")
    if len(sparse_one._shape) != 2:
        raise RuntimeError(f"addmm: scalar values expected, got {len(sparse_one._shape) - 2}D values")
    if len(other._shape) != 2:
        raise RuntimeError(f"addmm: matrices expected, got {len(other._shape)}D tensor")
    if sparse_one._shape[1] != other._shape[0]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {sparse_one._shape[1]}, got "
                           f"{other._shape[0]}")
    same_scalar_type(sparse_one, other)


def add_product(out, a, b, alpha=1):
    """out += alpha * (a @ b) for a sparse matrix `a` and a dense one `b`; `out` is an array."""
    require_inside(a)
    indices, values = parts(a)
    values = values if alpha == 1 else values * number_in(a._dtype, alpha)
    kernels.add_product(out, indices, values, array_of(b))
    return out


def zeros_for(a, b):
    return np.zeros((a._shape[0], b._shape[1]), a._dtype.numpy)


@on_sparse("mm")
def mm(keys, self, mat2):
    if is_sparse(self) and is_sparse(mat2):
        return registry["_sparse_sparse_matmul"](self, mat2)
    if is_sparse(self):
        require_column_dim(mat2)
        check_matrices(self, mat2)
        return from_array(add_product(zeros_for(self, mat2), self, mat2))
    left, right = transposed(mat2), self.t()
    check_matrices(left, right)
    return from_array(add_product(zeros_for(left, right), left, right).T)


def require_column_dim(t):
    geometry.wrap_dim(1, len(t._shape))


def transposed(t):
    """The transpose of a sparse matrix, outside of the graph."""
    if sparse_dims(t) != 2:
        raise RuntimeError(f"addmm: matrices expected, got {sparse_dims(t)}D tensor")
    indices, values = parts(t)
    return sparse(indices[::-1], values, t._shape[::-1])


def plus_product(self, mat1, mat2, beta, alpha):
    """beta * self + alpha * (mat1 @ mat2), of which exactly one factor is sparse."""
    if not is_sparse(mat1):
        return plus_product(self.t() if len(self._shape) == 2 else self.unsqueeze(-1), transposed(mat2), mat1.t(), beta,
                            alpha).t()
    require_column_dim(mat2)
    check_matrices(mat1, mat2)
    same_scalar_type(mat1, self)
    shape = mat1._shape[0], mat2._shape[1]
    geometry.expand(self._shape, (0,) * len(self._shape), 0, shape)
    start = np.zeros(shape, self._dtype.numpy)
    if beta != 0:
        start[...] = array_of(self) if beta == 1 else array_of(self) * number_in(self._dtype, beta)
    return from_array(add_product(start, mat1, mat2, alpha))


@on_sparse("addmm")
def addmm(keys, self, mat1, mat2, beta=1, alpha=1):
    if is_sparse(self) or is_sparse(mat1) == is_sparse(mat2):
        raise RuntimeError("addmm: expected one of the factors to be sparse, and what is added to be dense")
    return plus_product(self, mat1, mat2, beta, alpha)


@on_sparse("mv")
def mv(keys, self, vec):
    if not is_sparse(self) or len(self._shape) != 2 or len(vec._shape) != 1:
        raise RuntimeError("mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: "
                           f"{len(self._shape)}Tensor Dim: {len(vec._shape)}")
    if self._shape[1] != vec._shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    column = from_array(array_of(vec)[:, None])
    check_matrices(self, column)
    return from_array(add_product(zeros_for(self, column), self, column)[:, 0])


@on_sparse("bmm")
def bmm(keys, self, mat2):
    """A batch is one matrix with the factors as blocks on its diagonal."""
    if not is_sparse(self) or is_sparse(mat2):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense" if is_sparse(mat2) else
                           "bmm_sparse: Tensor 'self' must be sparse")
    if sparse_dims(self) != 3:
        raise RuntimeError(f"bmm_sparse: Tensor 'self' must have 3 sparse dims, but has {sparse_dims(self)}")
    if len(mat2._shape) != 3:
        raise RuntimeError(f"bmm_sparse: Tensor 'mat2' must have 3 dims, but has {len(mat2._shape)}")
    if self._shape[0] != mat2._shape[0]:
        raise RuntimeError("bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match")
    if self._shape[2] != mat2._shape[1]:
        raise RuntimeError("bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match")
    same_scalar_type(self, mat2)
    (batch, n, m), p = self._shape, mat2._shape[2]
    indices, values = parts(self)
    blocks = sparse(
        np.stack([indices[0] * n + indices[1], indices[0] * m + indices[2]]), values, (batch * n, batch * m)
    )
    dense = from_array(array_of(mat2).reshape(batch * m, p))
    return from_array(add_product(zeros_for(blocks, dense), blocks, dense).reshape(batch, n, p))


# ---- two sparse matrices -----------------------------------------------------------------------------------

@sparse_operator("_sparse_sparse_matmul", jvp=None, vjp={
    "self": lambda grad, self, other: grad.mm(other.t()).sparse_mask(self.coalesce()),
    "other": lambda grad, self, other: self.t().mm(grad).sparse_mask(other.coalesce())})
def sparse_matmul_op(self, other):
    """The product of two sparse matrices, sparse and coalesced."""
    check_multiplies(self, other)
    same_scalar_type(self, other)
    shape = self._shape[0], other._shape[1]
    left, right = parts(coalesced(self)), parts(coalesced(other))
    return sparse(*kernels.sparse_product(left, right, shape), shape, True)


# ---- torch.sparse.mm, torch.sparse.addmm -------------------------------------------------------------------

def factor_gradient(grad, factor, factor_layout, make):
    """The gradient of a factor: sparse where the factor is."""
    found = make()
    return found.sparse_mask(factor.coalesce()) if factor_layout is sparse_coo else found


@sparse_operator("_sparse_addmm", jvp=None, vjp={
    "self": lambda grad, beta: scaled(grad, beta),
    "mat1": lambda grad, mat1, mat2, alpha: factor_gradient(grad, mat1, mat1.layout,
                                                            lambda: scaled(grad.mm(mat2.t()), alpha)),
    "mat2": lambda grad, mat1, mat2, alpha: factor_gradient(grad, mat2, mat2.layout,
                                                            lambda: scaled(mat1.t().mm(grad), alpha))})
def sparse_addmm_op(self, mat1, mat2, *, beta=1, alpha=1):
    """beta * self + alpha * (mat1 @ mat2); the gradient of a sparse factor is sparse."""
    return plus_product(self, mat1, mat2, beta, alpha)


def sparse_addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * (mat1 @ mat2) for a sparse `mat1`, whose gradient is sparse too (torch.sparse.addmm)."""
    return sparse_addmm_op(mat, mat1, mat2, beta, alpha)


def sparse_mm(mat1, mat2):
    """mat1 @ mat2 of which one matrix at least is sparse; the gradient of a sparse one is sparse (torch.sparse.mm).

    Two sparse matrices have a sparse product. RuntimeError where sizes or dtypes do not fit.
    """
    if is_sparse(mat1) and is_sparse(mat2):
        return sparse_matmul_op(mat1, mat2)
    if not is_sparse(mat1) and not is_sparse(mat2):
        return mat1.mm(mat2)
    require_column_dim(mat2)
    zeros = exports[""]["zeros"]((mat1._shape[0], mat2._shape[1]), dtype=mat1._dtype)
    return sparse_addmm_op(zeros, mat1, mat2, 1, 1)


sparse_addmm_op.info.public = publish("addmm", sparse_addmm, ("sparse",))
publish("mm", sparse_mm, ("sparse",))
publish("_sparse_mm", sparse_mm, ("",))


def smm(input, mat):
    """The product of a sparse and a dense matrix, as a sparse tensor that keeps the elements of every nonempty row."""
    product = mm(0, input, mat)
    rows = np.unique(parts(input)[0][0])
    columns = np.arange(mat._shape[1])
    places = np.stack([np.repeat(rows, columns.size), np.tile(columns, rows.size)])
    return sparse(places, array_of(product)[rows].reshape(-1), product._shape)


def hspmm(mat1, mat2):
    """The same as a hybrid tensor, with one entry for every nonempty row."""
    product = mm(0, mat1, mat2)
    rows = np.unique(parts(mat1)[0][0])
    return sparse(rows[None], array_of(product)[rows], product._shape)


publish("smm", smm, ("", "Tensor"))
publish("hspmm", hspmm, ("",))
