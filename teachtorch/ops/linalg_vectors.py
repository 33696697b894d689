"""Products and distances of vectors, the trace, and matrices made of vectors."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..kernels import matrices
from .creation import beside
from .declare import LINEAR, MULTILINEAR, composite, exports, operator, publish
from .fake import Fake, require_tensor
from .linalg_checks import check_floating, fake_matrix, refuse_others, require_matrix_arrays
from .linalg_older import warn_of_older

# ---- trace -------------------------------------------------------------------------------------------------

def fake_trace(self):
    require_tensor(self, "trace", "input")
    if len(self._shape) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {len(self._shape)}")
    if self._dtype is dt.bool:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return Fake((), self._dtype if self._dtype.is_floating_point else dt.int64)


def on_diagonal(value, shape):
    """Zeros with the value on the diagonal."""
    return value.expand(min(shape)).diagonal_backward(shape, 0, 0, 1)


@operator("trace", fake=fake_trace, jvp=LINEAR, out=False,
          vjp={"self": lambda grad, self_shape: on_diagonal(grad, self_shape)})
def trace(self):
    """The sum of a matrix's diagonal; of integers as int64."""
    if self.ndim != 2 or self.dtype == np.bool_:
        raise TypeError("trace: not a matrix of numbers")
    return np.asarray(self.trace(dtype=np.int64 if self.dtype.kind in "iu" else None), None)


# ---- the cross product -------------------------------------------------------------------------------------

def fake_cross(self, other, dim=-1):
    require_tensor(other, "linalg_cross", "other", 2)
    if len(self._shape) != len(other._shape):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = geometry.wrap_dim(dim, len(self._shape))
    if self._shape[axis] != 3 or other._shape[axis] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got "
                           f"{self._shape[axis]} and {other._shape[axis]}")
    if self._dtype is dt.bool:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    if self._dtype is not other._dtype:
        raise RuntimeError(f"expected scalar type {scalar_type_name(self._dtype)} but found "
                           f"{scalar_type_name(other._dtype)}")
    return Fake(geometry.broadcast_shapes(self._shape, other._shape), self._dtype)


@operator("linalg.cross", fake=fake_cross, jvp=MULTILINEAR, spaces=("linalg",), vjp={
    "self": lambda grad, other, dim: cross(other.expand(grad._shape), grad, dim=dim),
    "other": lambda grad, self, dim: cross(grad, self.expand(grad._shape), dim=dim)})
def cross(self, other, *, dim=-1):
    """The cross products of vectors of three, which lie along `dim`; the other dimensions broadcast."""
    if self.ndim != other.ndim or self.dtype != other.dtype or self.dtype == np.bool_:
        raise TypeError("cross: operands that do not fit")
    if not -self.ndim <= dim < self.ndim or self.shape[dim] != 3 or other.shape[dim] != 3:
        raise TypeError("cross: not vectors of three")
    a, b = np.moveaxis(self, dim, 0), np.moveaxis(other, dim, 0)
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(parts, dim)


@composite("cross", out=True)
def cross_(self, other, dim=None):
    """`linalg.cross` along `dim`, by default the first dimension of size 3."""
    require_tensor(other, "cross", "other", 2)
    if dim is None:
        warn_of_older("cross")
        dim = next((d for d, size in enumerate(self.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return cross(self, other, dim=dim)


# ---- products of vectors -----------------------------------------------------------------------------------

@composite("linalg.vecdot", out=True, spaces=("linalg",))
def vecdot(x, y, *, dim=-1):
    """The inner products of vectors along `dim`; the other dimensions broadcast."""
    check_floating("linalg.vecdot", x)
    if x.dtype is not y.dtype:
        raise RuntimeError("linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                           f"{scalar_type_name(x.dtype)} and y of type {scalar_type_name(y.dtype)} instead")
    if x.dim() == y.dim() == 1 and x.shape == y.shape and x.dtype is not dt.bool:
        return x.dot(y)
    return (x * y).sum(dim, dtype=x.dtype)


@composite("linalg.diagonal", spaces=("linalg",))
def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices, a view; `offset` counts upwards from the main diagonal."""
    return A.diagonal(offset, dim1, dim2)


@composite("linalg.vander", spaces=("linalg",))
def vander(x, *, N=None):
    """The powers x^0 ... x^(N-1) of each element, along a new last dimension; N is by default x's last size."""
    N = N if N is not None else x.shape[-1] if x.dim() else 1
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    if x.dtype is dt.bool:
        x = x.long()
    x = x.reshape(1) if x.dim() == 0 else x
    column = x.unsqueeze(-1)
    powers = column.expand(*x.shape, N - 1).cumprod(-1)
    return exports[""]["cat"]([column.new_ones(column.shape), powers], -1)


def old_vander(x, N=None, increasing=False):
    """The powers of a vector's elements, from high to low unless `increasing`."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    N = x.shape[0] if N is None else N
    if N < 0:
        raise RuntimeError("N must be non-negative.")
    if N <= 1 or x.numel() == 0:
        x = x.long() if x.dtype is dt.bool else x
        return x.new_ones((x.shape[0], N))
    found = vander(x, N=N)
    return found if increasing else found.flip(-1)


publish("vander", old_vander, ("",))


def reflectors(input, count):
    """The vectors v_i as columns (..., m, 1): one at place i, `input` below it, zero above."""
    m = input.shape[-2]
    units = exports[""]["eye"](m, count, dtype=input.dtype, device=input.device)
    return [input[..., i:i + 1].tril(-i - 1) + units[:, i:i + 1] for i in range(count)]


def scale_of(tau, i):
    return tau[..., i:i + 1].unsqueeze(-1)


def partial_products(input, tau):
    """[H_1 ... H_k E, H_2 ... H_k E, ..., E], where E is the first columns of the identity."""
    m, n = input.shape[-2:]
    vectors = reflectors(input, tau.shape[-1])
    found = [exports[""]["eye"](m, n, dtype=input.dtype, device=input.device).expand(*input.shape[:-2], m, n)]
    for i in reversed(range(len(vectors))):
        v = vectors[i]
        found.insert(0, found[0] - scale_of(tau, i) * (v @ (v.mT @ found[0])))
    return found


def reflections_vjp(grad, input, tau):
    """Of each factor in turn: W - t v v^T W has G_t = -(v^T W)(G^T v), G_v = -t (G W^T v + W G^T v), G_W = H G."""
    columns, scales, products = [], [], partial_products(input, tau)
    for i, v in enumerate(reflectors(input, tau.shape[-1])):
        W, t = products[i + 1], scale_of(tau, i)
        across, back = W.mT @ v, grad.mT @ v
        columns.append((-t * (grad @ across + W @ back)).tril(-i - 1))
        scales.append(-(across * back).sum((-2, -1)).unsqueeze(-1))
        grad = grad - t * (v @ back.mT)
    rest = input.new_zeros((*input.shape[:-1], input.shape[-1] - len(columns)))
    cat = exports[""]["cat"]
    return cat([*columns, rest], -1), cat(scales, -1) if scales else tau.new_zeros(tau.shape)


def reflections_jvp(input_t, tau_t, input, tau):
    found, products = None, partial_products(input, tau)
    for i, v in reversed(list(enumerate(reflectors(input, tau.shape[-1])))):
        W, t = products[i + 1], scale_of(tau, i)
        terms = [] if found is None else [found - t * (v @ (v.mT @ found))]
        if tau_t is not None:
            terms.append(-scale_of(tau_t, i) * (v @ (v.mT @ W)))
        if input_t is not None:
            dv = input_t[..., i:i + 1].tril(-i - 1)
            terms.append(-t * (dv @ (v.mT @ W) + v @ (dv.mT @ W)))
        found = sum(terms[1:], terms[0])
    return products[0] * 0 if found is None else found


def fake_reflections(input, tau):
    check_reflections(input, tau)
    return fake_matrix(input._shape, input._dtype)


@operator("linalg.householder_product", fake=fake_reflections, jvp=reflections_jvp, spaces=("linalg",),
          vjp={"input, tau": reflections_vjp})
def householder_product(input, tau):
    """The first columns of the product of the reflections I - tau_i v_i v_i^T.

    `input` (..., m, n), m >= n, holds v_i below its diagonal (LAPACK's orgqr); `tau` (..., k), k <= n.
    """
    require_matrix_arrays(input)
    m, n = input.shape[-2:]
    if m < n or tau.shape[:-1] != input.shape[:-2] or tau.shape[-1] > n or tau.dtype != input.dtype:
        raise TypeError("householder_product: operands that do not fit")
    return matrices.by_columns(matrices.reflected(input, tau))


def check_reflections(input, tau):
    name = "torch.linalg.householder_product"
    if input.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but "
                           f"got {list(tau.shape[:-1])}")
    if input.dtype is not tau.dtype:
        raise RuntimeError(f"{name}: tau dtype {scalar_type_name(tau.dtype)} does not match input dtype "
                           f"{scalar_type_name(input.dtype)}")
    refuse_others("orgqr_cpu", input)


@composite("orgqr", out=True)
def orgqr(self, input2):
    """The older name of `linalg.householder_product`, whose `tau` is called `input2`."""
    return householder_product(self, input2)


# ---- distances ---------------------------------------------------------------------------------------------

MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
FEW_ROWS = 25                  # up to here PyTorch takes differences, beyond it multiplies matrices


def fake_cdist(x1, x2, p=2.0, multiplies=False):
    require_tensor(x1, "cdist", "x1")
    require_tensor(x2, "cdist", "x2", 2)
    for number, t in ((1, x1), (2, x2)):
        if not t._dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{number} got: "
                               f"{scalar_type_name(t._dtype)}")
    for number, t in ((1, x1), (2, x2)):
        if len(t._shape) < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{number} got: {len(t._shape)}D")
    if x1._shape[-1] != x2._shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1._shape[-1]} X2: "
                           f"{x2._shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1._dtype is not x2._dtype:
        raise RuntimeError(f"expected scalar type {scalar_type_name(x1._dtype)} but found "
                           f"{scalar_type_name(x2._dtype)}")
    if x1._dtype.itemsize == 2:
        raise NotImplementedError(f"\"cdist\" not implemented for '{scalar_type_name(x1._dtype)}'")
    batch = geometry.broadcast_shapes(x1._shape[:-2], x2._shape[:-2])
    return Fake((*batch, x1._shape[-2], x2._shape[-2]), x1._dtype)


def distance_slopes(x1, x2, p, distance):
    """The derivative of each distance by the difference of its rows, (..., rows of x1, rows of x2, columns).

    sign(d) |d|^(p-1) / distance^(p-1); where the distance is zero it has none, and 0 is chosen.
    """
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    whole = distance.unsqueeze(-1)
    is_zero = whole == 0
    if p == 0:
        return difference * 0
    if p == 1:
        return difference.sgn()
    if p == 2:
        return (difference / whole).masked_fill(is_zero, 0)
    if p == float("inf"):
        return difference.sgn() * (difference.abs() == whole)
    slope = difference.sgn() * difference.abs().pow(p - 1) / whole.pow(p - 1)
    return slope.masked_fill(is_zero | (difference == 0) if p < 1 else is_zero, 0)


def distance_tangent(x1_t, x2_t, x1, x2, p, result):
    change = 0
    if x1_t is not None:
        change = x1_t.unsqueeze(-2)
    if x2_t is not None:
        change = change - x2_t.unsqueeze(-3)
    return (distance_slopes(x1, x2, p, result) * change).sum(-1)


@operator("cdist_", fake=fake_cdist, jvp=distance_tangent, spaces=(), out=False, vjp={
    "x1": lambda grad, x1, x2, p, result: (grad.unsqueeze(-1) * distance_slopes(x1, x2, p, result)).sum(-2),
    "x2": lambda grad, x1, x2, p, result: -(grad.unsqueeze(-1) * distance_slopes(x1, x2, p, result)).sum(-3)})
def cdist_(x1, x2, p=2.0, multiplies=False):
    """All distances, by differences or (p = 2) by products."""
    require_matrix_arrays(x1, x2)
    if x1.shape[-1] != x2.shape[-1] or x1.dtype != x2.dtype:
        raise TypeError("cdist: operands that do not fit")
    if p < 0:
        raise ValueError("cdist: negative p")
    if multiplies:
        return distances_by_products(x1, x2)
    return distances(np.abs(x1[..., :, None, :] - x2[..., None, :, :]), p)


def distances(difference, p):
    """The p-norms along the last dimension of absolute differences."""
    if p == 0:
        return (difference != 0).sum(-1).astype(difference.dtype)
    if p == 1:
        return difference.sum(-1)
    if p == 2:
        return np.sqrt(np.square(difference).sum(-1))
    if p == float("inf"):
        return difference.max(-1, initial=0)
    return (difference ** p).sum(-1) ** (1 / p)


def distances_by_products(x1, x2):
    """|a - b|^2 = |a|^2 - 2 a b + |b|^2: quicker for many rows, and less exact where rows are close."""
    squares = np.square(x1).sum(-1)[..., :, None] + np.square(x2).sum(-1)[..., None, :]
    return np.sqrt(np.maximum(squares - 2 * (x1 @ np.swapaxes(x2, -1, -2)), 0))


@composite("cdist", spaces=("",))
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distances between all rows of x1 (..., m, k) and all rows of x2 (..., n, k), as (..., m, n).

    Euclidean distances of more than 25 rows are computed by a matrix product, unless `compute_mode` says
    otherwise.
    """
    if compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    require_tensor(x1, "cdist", "x1")
    require_tensor(x2, "cdist", "x2", 2)
    many = x1.dim() > 1 and x2.dim() > 1 and max(x1.shape[-2], x2.shape[-2]) > FEW_ROWS
    multiplies = compute_mode == MODES[1] or many and compute_mode == MODES[0]
    return cdist_(x1, x2, float(p), p == 2 and multiplies)


def fake_pdist(self, p=2.0):
    require_tensor(self, "pdist", "self")
    if len(self._shape) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(self._shape)}D")
    if not self._dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    refuse_others("pdist", self)
    rows = self._shape[0]
    return Fake((rows * (rows - 1) // 2,), self._dtype)


def pair_slopes(self, p, result):
    """(derivatives of each pair's distance by the difference of its rows, first rows, second rows)."""
    first, second = [beside(self, rows) for rows in np.triu_indices(self._shape[0], 1)]
    slopes = distance_slopes(self[first].unsqueeze(1), self[second].unsqueeze(1), p, result[:, None, None])
    return slopes[:, 0, 0], first, second


def pdist_gradient(grad, self, p, result):
    slopes, first, second = pair_slopes(self, p, result)
    change = grad[:, None] * slopes
    return (self * 0).index_add(0, first, change).index_add(0, second, -change)


def pdist_tangent(self_t, self, p, result):
    slopes, first, second = pair_slopes(self, p, result)
    return (slopes * (self_t[first] - self_t[second])).sum(-1)


@operator("pdist", fake=fake_pdist, vjp={"self": pdist_gradient}, jvp=pdist_tangent, spaces=("", "nn.functional"),
          out=False)
def pdist(self, p=2.0):
    """The p-norm distances between all pairs of rows of (n, k), as n (n - 1) / 2 values: rows 0 and 1, 0 and 2, ..."""
    if self.ndim != 2 or self.dtype.char not in "fd" or p < 0:
        raise TypeError("pdist: arguments that do not fit")
    first, second = np.triu_indices(self.shape[0], 1)
    return distances(np.abs(self[first] - self[second]), p)
