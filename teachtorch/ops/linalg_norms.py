"""Norms, ranks, powers and products of matrices (..., m, n), composed of other operators."""
import numpy as np

from ..core import geometry
from ..core.dtype import cpp_name, scalar_type_name
from ..tensor import Tensor
from .declare import composite, exports, publish, taking_out
from .fake import require_tensor
from .linalg import inv, inverse_of, solve
from .linalg_checks import check_matrix, check_square
from .linalg_factor import eigvalsh
from .linalg_orthogonal import svdvals
from .linalg_least_squares import tolerances
from .linalg_older import warn_of_older

INFINITY = float("inf")


def wrapped(dim, rank):
    return geometry.wrap_dim(dim, rank)


# ---- norms of matrices -------------------------------------------------------------------------------------

def check_matrix_norm(A, ord, dim, dtype):
    """`dim` must be two dimensions, and the dtypes must fit."""
    name = "linalg.matrix_norm"
    check_matrix(name, A)
    check_norm_dtypes(name, A._dtype, dtype)
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {', '.join(map(str, dim))}")
    rows, columns = (wrapped(d, len(A._shape)) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord not in ("fro", "nuc", 1, -1, 2, -2, INFINITY, -INFINITY):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    return rows, columns


def check_norm_dtypes(name, own, dtype):
    kinds = [scalar_type_name(d) for d in (own, dtype) if d is not None]
    if not own.is_floating_point:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {kinds[0]}")
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {kinds[1]}")
    if dtype is not None and dtype.itemsize < own.itemsize:
        raise RuntimeError(f"{name}: the dtype of the input ({kinds[0]}) should be convertible without "
                           f"narrowing to the specified dtype ({kinds[1]})")


@composite("linalg.matrix_norm", out=True, spaces=("linalg",))
def matrix_norm(self, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norms of matrices, which lie in the two dimensions `dim`.

    `ord`: "fro" (Frobenius), "nuc" (the sum of the singular values), 2 and -2 (the largest and the smallest),
    1 and -1 (of the columns' absolute sums), inf and -inf (of the rows').
    """
    require_tensor(self, "linalg_matrix_norm", "input")
    dim = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    rows, columns = check_matrix_norm(self, ord, dim, dtype)
    if ord == "fro":
        return exports["linalg"]["vector_norm"](self, 2, (rows, columns), keepdim, dtype=dtype)
    t = self if dtype is None else self.to(dtype)
    if ord in ("nuc", 2, -2):
        return spectral_norm(t, ord, rows, columns, keepdim)
    return largest_sum(t, ord, rows, columns, keepdim)


def spectral_norm(t, ord, rows, columns, keepdim):
    """Of the singular values: their sum, the largest, or the smallest."""
    values = svdvals(t.movedim((rows, columns), (-2, -1)))
    found = values.sum(-1) if ord == "nuc" else extreme(values, ord, -1, False)
    for dim in sorted((rows, columns)) if keepdim else ():
        found = found.unsqueeze(dim)
    return found


def largest_sum(t, ord, rows, columns, keepdim):
    """Of the absolute sums of the columns (1) or rows (inf): the largest, or the smallest."""
    summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = exports["linalg"]["vector_norm"](t, 1, summed, keepdim)
    if not keepdim and summed < other:
        other -= 1
    return extreme(sums, ord, other, keepdim)


def extreme(values, ord, dim, keepdim):
    if ord > 0 and values.shape[dim] == 0:
        return values.sum(dim, keepdim)
    return values.amax(dim, keepdim) if ord > 0 else values.amin(dim, keepdim)


@composite("linalg.norm", out=True, spaces=("linalg",))
def norm(self, ord=None, dim=None, keepdim=False, *, dtype=None):
    """A norm of a vector or matrix.

    Of all elements without `ord`; of matrices if `ord` is a string or two dimensions are meant,
    else of vectors.
    """
    if ord is None and (dim is None or isinstance(dim, int) or len(dim) in (1, 2)):
        return exports["linalg"]["vector_norm"](self, 2, dim, keepdim, dtype=dtype)
    dims = None if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    check_norm_dims(self, ord, dims)
    if isinstance(ord, str) or dims is None and self.dim() == 2 or dims is not None and len(dims) == 2:
        return matrix_norm(self, ord, (0, 1) if dims is None else dims, keepdim, dtype=dtype)
    return exports["linalg"]["vector_norm"](self, ord, dims, keepdim, dtype=dtype)


def check_norm_dims(self, ord, dims):
    if dims is None:
        if self.dim() not in (1, 2):
            raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
                               f"Got {self.dim()}D.")
    elif len(dims) not in (1, 2) and not isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")


def nuclear_norm(input, dim=(-2, -1), keepdim=False):
    """The sum of the singular values: `linalg.matrix_norm` with "nuc". A bool in the place of `dim` is `keepdim`."""
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    return matrix_norm(input, "nuc", dim, keepdim)


def frobenius_norm(input, dim=(-2, -1), keepdim=False):
    """The square root of the sum of squares along one dimension or two."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    if len(dims) == 2:
        return matrix_norm(input, "fro", dims, keepdim)
    return exports["linalg"]["vector_norm"](input, 2, dims or None, keepdim)


for _function in (nuclear_norm, frobenius_norm):
    publish(_function.__name__, taking_out(_function), ("",))


@composite("linalg.cond", out=True, spaces=("linalg",))
def cond(self, p=None):
    """The condition numbers norm(A) norm(A^-1); infinite for a singular matrix.

    `p`: None, 2 or -2 (a quotient of singular values, for any m and n), "fro", "nuc", 1, -1, inf, -inf.
    """
    require_tensor(self, "linalg_cond", "input")
    if self.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p in (None, 2, -2):
        return quotient_of_extremes(svdvals(self), p)
    if p not in ("fro", "nuc", 1, -1, INFINITY, -INFINITY):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square(f"linalg.cond(ord={p})", self)
    if self.numel() == 0:
        return self.new_zeros(self.shape[:-2])
    inverse, info = inverse_of(self, None)
    inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), INFINITY)
    return (matrix_norm(self, p) * matrix_norm(inverse, p)).nan_to_num(INFINITY, INFINITY, -INFINITY)


def quotient_of_extremes(values, p):
    if values.numel() == 0:
        return values.new_zeros(values.shape[:-1])
    largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, values.shape[-1] - 1, 1)
    return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)


# ---- rank --------------------------------------------------------------------------------------------------

@composite("linalg.matrix_rank", out=True, spaces=("linalg",))
def matrix_rank(self, tol=None, hermitian=False, *, atol=None, rtol=None):
    """How many singular values (of symmetric matrices, if `hermitian`: absolute eigenvalues) exceed
    max(atol, rtol * largest), as int64. `tol` is the old name of `atol`, with rtol 0."""
    require_tensor(self, "linalg_matrix_rank", "input")
    check_matrix("torch.linalg.matrix_rank", self, "input")
    if self._dtype.name not in ("float32", "float64"):
        raise RuntimeError("This function doesn't handle types other than float and double")
    atol, rtol = (tol, 0.0) if tol is not None else tolerances(self._shape, self._dtype, atol, rtol)
    values = (eigvalsh(self).abs() if hermitian else svdvals(self)).detach()
    if values.shape[-1] == 0:
        return values.sum(-1).long()
    return (values > cut_of(values, atol, rtol)).sum(-1)


def cut_of(values, atol, rtol):
    """max(atol, rtol * largest), ready to compare with the values."""
    relative = values.amax(-1) * rtol
    absolute = atol if isinstance(atol, Tensor) else values.new_full((), atol)
    return exports[""]["maximum"](relative, absolute).unsqueeze(-1)


# ---- powers and chains -------------------------------------------------------------------------------------

@composite("linalg.matrix_power", out=True, spaces=("linalg",))
def matrix_power(self, n):
    """The n-th powers of square matrices by repeated squaring; of the inverses where n is negative."""
    require_tensor(self, "linalg_matrix_power", "input")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not "
                        f"{type(n).__name__}")
    check_square("linalg.matrix_power", self)
    if n == 0:
        zeros = self.masked_fill(self.new_ones(()).bool(), 0)
        return zeros + exports[""]["eye"](self.shape[-1], dtype=self.dtype, device=self.device)
    base = inv(self) if n < 0 else self
    if abs(n) == 1:
        return base.clone() if n == 1 else base
    return power(base, abs(int(n)))


def power(base, n):
    """base^n for n from 1 up: about log2(n) squarings and as many products as n has further binary ones."""
    if n == 3:
        return base @ base @ base
    found = None
    while n:
        n, is_odd = divmod(n, 2)
        if is_odd:
            found = base if found is None else found @ base
        base = base @ base if n else base
    return found


def torch_matrix_power(input, n, out=None):
    """The product of n equal square matrices (..., m, m); for a negative n of their inverses."""
    return matrix_power(input, n, out=out)


publish("matrix_power", torch_matrix_power, ("", "Tensor"))


def check_chain(tensors):
    name = "multi_dot()"
    if not isinstance(tensors, (list, tuple)):
        raise TypeError("linalg_multi_dot(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    if len(tensors) < 2:
        raise RuntimeError(f"{name}: expected at least 2 tensors but got {len(tensors)}")
    for which, t in (("first", tensors[0]), ("last", tensors[-1])):
        if t.dim() not in (1, 2):
            raise RuntimeError(f"{name}: the {which} tensor must be 1D or 2D but got {t.dim()}D")
    for i, t in enumerate(tensors):
        if 0 < i < len(tensors) - 1 and t.dim() != 2:
            raise RuntimeError(f"{name}: tensor {i} must be 2D but got {t.dim()}D")


def check_links(chain):
    """Neighbours must share a dtype and a size."""
    name = "multi_dot()"
    for i, t in enumerate(chain[1:], 1):
        if t._dtype is not chain[0]._dtype:
            raise RuntimeError(f"{name}: all tensors must have be the same dtype but tensor 0 is "
                               f"{cpp_name(chain[0]._dtype)} and tensor {i} {cpp_name(t._dtype)}")
    for i, (a, b) in enumerate(zip(chain, chain[1:])):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(f"{name}: tensors {i} and {i + 1} with shapes {list(a.shape)} and "
                               f"{list(b.shape)} cannot be multiplied")


def cheapest_splits(sizes):
    """Where to split each run of the chain: T. Cormen et al., "Introduction to Algorithms", section 15.2."""
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ends = sizes[i] * sizes[j + 1]
            cost[i][j], split[i][j] = min((cost[i][k] + cost[k + 1][j] + ends * sizes[k + 1], k)
                                          for k in range(i, j))
    return split


def multiplied(chain, split, i, j):
    if i == j:
        return chain[i]
    k = split[i][j]
    return multiplied(chain, split, i, k).mm(multiplied(chain, split, k + 1, j))


@composite("linalg.multi_dot", out=True, spaces=("linalg",))
def multi_dot(tensors):
    """The product of a chain of matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors, which count as a row and a column.
    """
    check_chain(tensors)
    chain = list(tensors)
    is_row, is_column = chain[0].dim() == 1, chain[-1].dim() == 1
    chain[0] = chain[0].unsqueeze(0) if is_row else chain[0]
    chain[-1] = chain[-1].unsqueeze(1) if is_column else chain[-1]
    check_links(chain)
    sizes = [chain[0].shape[0]] + [t.shape[1] for t in chain]
    found = multiplied(chain, cheapest_splits(sizes), 0, len(chain) - 1)
    return found.view([] if is_row and is_column else [-1] if is_row or is_column else found.shape)


def chain_matmul(*matrices, out=None):
    """The old spelling of `linalg.multi_dot`, with the matrices as arguments."""
    warn_of_older("chain_matmul")
    return multi_dot(matrices, out=out) if len(matrices) > 1 else matrices[0]


publish("chain_matmul", chain_matmul, ("",))


# ---- tensors as linear maps --------------------------------------------------------------------------------

def count(sizes):
    return int(np.prod(sizes, dtype=np.int64))


@composite("linalg.tensorinv", out=True, spaces=("linalg",))
def tensorinv(self, ind=2):
    """The inverse of the linear map that the tensor is: the first `ind` dimensions against the others."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape, rest = tuple(self.shape[:ind]), tuple(self.shape[ind:])
    if count(shape) != count(rest):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                           f"prod(self.shape[:ind]), but got {count(rest)} != {count(shape)}")
    return inv(self.reshape(count(rest), count(rest))).reshape(rest + shape)


@composite("linalg.tensorsolve", out=True, spaces=("linalg",))
def tensorsolve(self, B, dims=None):
    """X with tensordot(self, X, X.dim()) = B; `dims` are first moved to the end."""
    A = self
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    rest = tuple(A.shape[B.dim():])
    rows = count(A.shape[:B.dim()])
    if count(rest) != rows:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                           f"prod(self.shape[:other.ndim]), but got {count(rest)} != {rows}")
    return solve(A.reshape(rows, count(rest)), B.flatten()).reshape(rest)
