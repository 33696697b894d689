"""Matrix products: mm, bmm, mv, dot and what is composed of them."""
import numpy as np

from ..core import geometry
from ..core.dtype import OF_NUMPY, scalar_type_name
from .declare import MULTILINEAR, composite, operator, publish
from .fake import Fake, require_tensor

# NumPy multiplies these without BLAS, and rounds every step; PyTorch accumulates in float32.
_NARROW = frozenset(d for d in OF_NUMPY if OF_NUMPY[d].name in ("float16", "bfloat16"))


def product(a, b):
    """a @ b for arrays of one dtype, of fitting shapes."""
    if a.dtype in _NARROW:
        return product(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    if a.ndim <= 2:
        return a.dot(b)            # a third of np.matmul's cost on small matrices
    return np.matmul(a, b)


def check_operands(name, a, b, ndim_a, ndim_b):
    """What all products of two operands ask for: arrays of the right ranks and of one dtype."""
    if a.ndim != ndim_a or b.ndim != ndim_b or a.dtype != b.dtype:
        raise TypeError(f"{name}(): operands of {a.ndim} and {b.ndim} dimensions, {a.dtype} and {b.dtype}")


def same_dtype(name, a, b):
    if a._dtype is not b._dtype:
        raise RuntimeError(f"{name}(): expected m1 and m2 to have the same dtype, but got: "
                           f"{scalar_type_name(a._dtype).lower()} != {scalar_type_name(b._dtype).lower()}")


def sizes(t):
    return "x".join(map(str, t._shape))


# ---- the products ---------------------------------------------------------------------------------------------

def fake_mm(self, mat2):
    require_tensor(mat2, "mm", "mat2", 2)
    if len(self._shape) != 2:
        raise RuntimeError(f"mm(): self must be a matrix, but it has shape {list(self._shape)}")
    if len(mat2._shape) != 2:
        raise RuntimeError(f"mm(): mat2 must be a matrix, but it has shape {list(mat2._shape)}")
    if self._shape[1] != mat2._shape[0]:
        raise RuntimeError(f"mm(): mat1 and mat2 shapes cannot be multiplied ({sizes(self)} and {sizes(mat2)})")
    same_dtype("mm", self, mat2)
    return Fake((self._shape[0], mat2._shape[1]), self._dtype)


@operator("mm", jvp=MULTILINEAR, fake=fake_mm,
          vjp={"self": lambda grad, mat2: grad.mm(mat2.t()), "mat2": lambda grad, self: self.t().mm(grad)})
def mm(self, mat2):
    """The matrix product of an (n, m) and an (m, p) tensor of one dtype."""
    check_operands("mm", self, mat2, 2, 2)
    return product(self, mat2)


def fake_mv(self, vec):
    require_tensor(vec, "mv", "vec", 2)
    if len(self._shape) != 2 or len(vec._shape) != 1:
        raise RuntimeError(f"mv(): vector + matrix @ vector expected, got {len(self._shape)}, {len(vec._shape)} "
                           f"dimensions; shapes {list(self._shape)} and {list(vec._shape)}")
    if self._shape[1] != vec._shape[0]:
        raise RuntimeError(f"mv(): size mismatch, got input ({self._shape[0]}), mat ({sizes(self)}), "
                           f"vec ({vec._shape[0]})")
    same_dtype("mv", self, vec)
    return Fake(self._shape[:1], self._dtype)


@operator("mv", jvp=MULTILINEAR, fake=fake_mv,
          vjp={"self": lambda grad, vec: grad.outer(vec), "vec": lambda grad, self: self.t().mv(grad)})
def mv(self, vec):
    """The product of an (n, m) matrix and a vector of m."""
    check_operands("mv", self, vec, 2, 1)
    return product(self, vec)


def fake_dot(self, tensor):
    require_tensor(tensor, "dot", "tensor", 2)
    if len(self._shape) != 1 or len(tensor._shape) != 1:
        raise RuntimeError(f"dot(): 1D tensors expected, but got {len(self._shape)}D and {len(tensor._shape)}D tensors")
    if self._dtype is not tensor._dtype:
        raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                           f"{scalar_type_name(self._dtype)} and {scalar_type_name(tensor._dtype)}")
    if self._shape != tensor._shape:
        raise RuntimeError(f"dot(): inconsistent tensor size, expected tensor [{self._shape[0]}] and src "
                           f"[{tensor._shape[0]}] to have the same number of elements, but got {self._shape[0]} and "
                           f"{tensor._shape[0]} elements respectively")
    return Fake((), self._dtype)


@operator("dot", jvp=MULTILINEAR, fake=fake_dot,
          vjp={"self": lambda grad, tensor: grad * tensor, "tensor": lambda grad, self: grad * self})
def dot(self, tensor):
    """The inner product of two vectors of one length and dtype."""
    check_operands("dot", self, tensor, 1, 1)
    return np.asarray(product(self, tensor))


def fake_bmm(self, mat2):
    require_tensor(mat2, "bmm", "mat2", 2)
    if len(self._shape) != 3 or len(mat2._shape) != 3:
        which, shape = ("batch1", self._shape) if len(self._shape) != 3 else ("batch2", mat2._shape)
        raise RuntimeError(f"bmm(): {which} must be a 3D tensor, but it has shape {list(shape)}")
    expected = [self._shape[0], self._shape[2]]
    if list(mat2._shape[:2]) != expected:
        raise RuntimeError("bmm(): Expected size for first two dimensions of batch2 tensor to be: "
                           f"{expected} but got: {list(mat2._shape[:2])}.")
    if self._dtype is not mat2._dtype:
        raise RuntimeError(f"bmm(): expected scalar type {scalar_type_name(self._dtype)} but found "
                           f"{scalar_type_name(mat2._dtype)}")
    return Fake((self._shape[0], self._shape[1], mat2._shape[2]), self._dtype)


@operator("bmm", jvp=MULTILINEAR, fake=fake_bmm,
          vjp={"self": lambda grad, mat2: grad.bmm(mat2.transpose(1, 2)),
               "mat2": lambda grad, self: self.transpose(1, 2).bmm(grad)})
def bmm(self, mat2):
    """The matrix products of two batches: (b, n, m) and (b, m, p) to (b, n, p)."""
    check_operands("bmm", self, mat2, 3, 3)
    if self.shape[0] != mat2.shape[0]:
        raise TypeError("bmm(): batches of different sizes")
    return product(self, mat2)


# ---- sums with products ---------------------------------------------------------------------------------------

def scaled(grad, factor):
    return grad if factor == 1 else grad * factor


def fake_addmm(self, mat1, mat2, beta=1, alpha=1):
    result = fake_mm(mat1, mat2)
    same_dtype("addmm", self, mat1)
    geometry_fits("addmm", self, result.shape)
    return result


def geometry_fits(name, bias, shape):
    if geometry.broadcast_shapes(bias._shape, shape) != shape:
        raise RuntimeError(f"{name}(): the added tensor of shape {list(bias._shape)} does not expand to {list(shape)}")


def addmm_jvp(self_t, mat1_t, mat2_t, mat1, mat2, beta, alpha):
    terms = [scaled(t, factor) for t, factor in ((self_t, beta),) if t is not None]
    terms += [scaled(mat1_t.mm(mat2), alpha)] if mat1_t is not None else []
    terms += [scaled(mat1.mm(mat2_t), alpha)] if mat2_t is not None else []
    return sum(terms[1:], terms[0].expand(mat1._shape[0], mat2._shape[1]))


@operator("addmm", jvp=addmm_jvp, fake=fake_addmm, inplace=True, vjp={
    "self": lambda grad, beta: scaled(grad, beta),
    "mat1": lambda grad, mat2, alpha: scaled(grad.mm(mat2.t()), alpha),
    "mat2": lambda grad, mat1, alpha: scaled(mat1.t().mm(grad), alpha)})
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    """beta * self + alpha * (mat1 @ mat2); `self` is broadcast. With beta 0, NaNs in `self` are ignored."""
    check_operands("addmm", mat1, mat2, 2, 2)
    if self.dtype != mat1.dtype:
        raise TypeError("addmm(): operands of different dtypes")
    return plus_product(self, product(mat1, mat2), beta, alpha)


def plus_product(bias, result, beta, alpha):
    """beta * bias + alpha * result, in result's memory."""
    if alpha != 1:
        result = (result * alpha).astype(result.dtype)
    if np.broadcast_shapes(bias.shape, result.shape) != result.shape:
        raise TypeError("the added tensor does not expand to the product's shape")
    if beta == 1:
        return np.add(result, bias, result)
    if beta != 0:
        result += (bias * beta).astype(result.dtype)
    return result


def sum_of_products(name, product_name):
    """The composition beta * self + alpha * product(a, b)."""
    def composed(input, a, b, *, beta=1, alpha=1):
        found = getattr(a, product_name)(b)
        geometry_fits(name, input, found._shape)
        found = scaled(found, alpha)
        return found if beta == 0 else found + scaled(input, beta)
    composed.__doc__ = f"beta * input + alpha * {product_name}(a, b)."
    return composed


@composite("addmv", out=True)
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta * input + alpha * (mat @ vec)."""
    return sum_of_products("addmv", "mv")(input, mat, vec, beta=beta, alpha=alpha)


@composite("baddbmm", out=True)
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * bmm(batch1, batch2)."""
    return sum_of_products("baddbmm", "bmm")(input, batch1, batch2, beta=beta, alpha=alpha)


@composite("addr", out=True)
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta * input + alpha * outer(vec1, vec2)."""
    return sum_of_products("addr", "outer")(input, vec1, vec2, beta=beta, alpha=alpha)


@composite("addbmm", out=True)
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the sum over the batch of bmm(batch1, batch2)."""
    found = scaled(batch1.bmm(batch2).sum(0), alpha)
    geometry_fits("addbmm", input, found._shape)
    return found if beta == 0 else found + scaled(input, beta)


# ---- compositions ---------------------------------------------------------------------------------------------

@composite("matmul", out=True)
def matmul(input, other):
    """The product of vectors, matrices or batches of matrices, by NumPy's rules for `@`."""
    dims = len(input._shape), len(require_other(other)._shape)
    if dims == (2, 2):
        return input.mm(other)
    if dims == (1, 1):
        return input.dot(other)
    if 0 in dims:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and {dims[1]}D")
    if dims == (2, 1):
        return input.mv(other)
    if dims == (1, 2):
        return input.unsqueeze(0).mm(other).squeeze(0)
    return folded(input, other) if dims[1] <= 2 else batched(input, other)


def require_other(other):
    require_tensor(other, "matmul", "other", 2)
    return other


def folded(input, other):
    """A batch times one matrix or vector: the batch dimensions become rows of one product."""
    rows = input.reshape(-1, input._shape[-1])
    if len(other._shape) == 1:
        return rows.mv(other).reshape(input._shape[:-1])
    return rows.mm(other).reshape(*input._shape[:-1], other._shape[1])


def batched(input, other):
    """Batches with broadcasting, as one bmm."""
    is_vector = len(input._shape) == 1
    a = input.unsqueeze(0) if is_vector else input
    batch = geometry.broadcast_shapes(a._shape[:-2], other._shape[:-2])
    n, m, p = a._shape[-2], a._shape[-1], other._shape[-1]
    left = a.expand(*batch, n, m).reshape(-1, n, m) if batch else a
    right = other.expand(*batch, other._shape[-2], p).reshape(-1, other._shape[-2], p)
    found = left.bmm(right).reshape(*batch, n, p)
    return found.squeeze(-2) if is_vector else found


publish("__matmul__", matmul, ("Tensor",))
publish("__rmatmul__", lambda self, other: matmul(other, self), ("Tensor",))


@composite("outer", out=True)
def outer(input, vec2):
    """The products of all pairs of elements of two vectors, (n, m)."""
    if len(input._shape) != 1 or len(vec2._shape) != 1:
        raise RuntimeError(f"outer: Expected 1-D arguments, but got {len(input._shape)}-D and {len(vec2._shape)}-D "
                           "tensors")
    return input.unsqueeze(1) * vec2.unsqueeze(0)


publish("ger", outer, ("", "Tensor"))


@composite("inner", out=True)
def inner(input, other):
    """The sums of products over the last dimensions; of every pair of rows."""
    if not input._shape or not other._shape:
        return input * other
    if input._shape[-1] != other._shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(input._shape)} and {list(other._shape)}")
    rows, columns = input.reshape(-1, input._shape[-1]), other.reshape(-1, other._shape[-1])
    return rows.mm(columns.t()).reshape((*input._shape[:-1], *other._shape[:-1]))


publish("vdot", dot, ("", "Tensor"))


@composite("linear", spaces=("nn.functional",))
def linear(input, weight, bias=None):
    """input @ weight.T + bias; `input` (..., in_features), `weight` (out_features, in_features) or (in_features)."""
    if bias is None:
        return matmul(input, weight.t())
    if len(input._shape) == 2 and len(weight._shape) == 2:
        return bias.addmm(input, weight.t())
    return matmul(input, weight.t()) + bias
