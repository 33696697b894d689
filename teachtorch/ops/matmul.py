"""Matrix products: mm, bmm, mv, dot and what is composed of them.

The first line of an error is PyTorch's; where it lacks the shapes, a second line has them.
"""
import math

import numpy as np

from ..core import dtype as dt
from ..core import geometry, observer
from ..core.dtype import OF_NUMPY, cpp_name, scalar_type_name
from ..dispatch.operator import registry
from ..kernels import blas
from ..tensor import Tensor
from . import view  # noqa: F401  declares _unsafe_view
from .declare import MULTILINEAR, composite, operator, publish
from .fake import Fake, require_tensor

unsafe_view = registry["_unsafe_view"]      # of a fresh result; not a view to autograd

# NumPy multiplies halves without BLAS, and rounds every step; PyTorch accumulates in float32.
# Of bools there is no product.
_SPECIAL = frozenset(d for d in OF_NUMPY if OF_NUMPY[d].name in ("float16", "bfloat16", "bool"))


def product(a, b):
    """a @ b for arrays of one dtype, of fitting shapes."""
    if a.dtype in _SPECIAL:
        return special_product(a, b)
    if a.ndim <= 2 and (b.ndim < 2 or a.size * b.shape[1] <= blas.SMALL):
        return a.dot(b)            # a third of np.matmul's cost on small matrices
    return blas.matmul(a, b)


def special_product(a, b):
    if a.dtype == np.bool_:
        raise TypeError("matrix product of bools")
    return np.asarray(product(a.astype(np.float32), b.astype(np.float32))).astype(a.dtype)


def check_operands(name, a, b, ndim_a, ndim_b):
    """What all products of two operands ask for: arrays of the right ranks and of one dtype."""
    if a.ndim != ndim_a or b.ndim != ndim_b or a.dtype != b.dtype:
        raise TypeError(f"{name}(): operands of {a.ndim} and {b.ndim} dimensions, {a.dtype} and {b.dtype}")


def same_dtype(a, b):
    if a._dtype is not b._dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {cpp_name(a._dtype)} != "
                           f"{cpp_name(b._dtype)}")


def same_scalar_type(a, b):
    if a._dtype is not b._dtype:
        raise RuntimeError(f"expected scalar type {scalar_type_name(a._dtype)} but found "
                           f"{scalar_type_name(b._dtype)}")


def refuse_bool(kernel, t):
    if t._dtype is dt.bool:
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def sizes(t):
    return "x".join(map(str, t._shape))


def shapes(name, *tensors):
    """The second line of an error message."""
    return f"\n{name}(): got shapes {' and '.join(str(list(t._shape)) for t in tensors)}."


def check_multiplies(a, b):
    if a._shape[1] != b._shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes(a)} and {sizes(b)})")


# ---- the products ------------------------------------------------------------------------------------------

def fake_mm(self, mat2):
    require_tensor(self, "mm", "input")
    require_tensor(mat2, "mm", "mat2", 2)
    for name, t in (("self", self), ("mat2", mat2)):
        if len(t._shape) != 2:
            raise RuntimeError(f"{name} must be a matrix" + shapes("mm", self, mat2))
    check_multiplies(self, mat2)
    same_dtype(self, mat2)
    refuse_bool("addmm_impl_cpu_", self)
    return Fake((self._shape[0], mat2._shape[1]), self._dtype)


def is_by_columns(geometry_of_matrix):
    """Whether a matrix lies in memory column by column: its gradient then does too, for a transposed weight's sake."""
    (rows, _), stride, _ = geometry_of_matrix
    return stride == (1, rows)


def first_gradient(grad, mat2, self_geometry):
    return mat2.mm(grad.t()).t() if is_by_columns(self_geometry) else grad.mm(mat2.t())


def second_gradient(grad, self, mat2_geometry):
    return grad.t().mm(self).t() if is_by_columns(mat2_geometry) else self.t().mm(grad)


def first_gradient_on_arrays(grad, mat2, self_geometry):
    return product(mat2, grad.T).T if is_by_columns(self_geometry) else product(grad, mat2.T)


def second_gradient_on_arrays(grad, self, mat2_geometry):
    return product(grad.T, self).T if is_by_columns(mat2_geometry) else product(self.T, grad)


@operator("mm", jvp=MULTILINEAR, fake=fake_mm, vjp={"self": first_gradient, "mat2": second_gradient},
          arrays={"self": first_gradient_on_arrays, "mat2": second_gradient_on_arrays})
def mm(self, mat2):
    """The matrix product of an (n, m) and an (m, p) tensor of one dtype."""
    check_operands("mm", self, mat2, 2, 2)
    return product(self, mat2)


def check_mv(self, mat, vec, name):
    """What addmv asks for; mv passes its vector as `self`."""
    require_tensor(mat, name, "mat", 2)
    require_tensor(vec, name, "vec", 3)
    ranks = len(self._shape) if name == "addmv" else 1, len(mat._shape), len(vec._shape)
    if ranks[0] > 1 or ranks[1:] != (2, 1):
        raise RuntimeError("vector + matrix @ vector expected, got " + ", ".join(map(str, ranks))
                           + shapes(name, self, mat, vec))
    given = self if name == "addmv" else vec
    is_result = name == "mv" or not self._shape or self._shape[0] in (1, mat._shape[0])
    if mat._shape[1] != vec._shape[0] or not is_result:
        raise RuntimeError(f"size mismatch, got input "
                           f"({sizes(given) if name == 'addmv' else mat._shape[0]}), mat "
                           f"({sizes(mat)}), vec ({vec._shape[0]})")
    if not self._dtype is mat._dtype is vec._dtype:
        kinds = [scalar_type_name(t._dtype) for t in (self, mat, vec)]
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {kinds[0]}, {kinds[1]}, "
                           f"and {kinds[2]}")
    refuse_bool("addmv_impl_cpu", mat)


def fake_mv(self, vec):
    require_tensor(self, "mv", "input")
    require_tensor(vec, "mv", "vec", 2)
    check_mv(vec, self, vec, "mv")
    return Fake(self._shape[:1], self._dtype)


@operator("mv", jvp=MULTILINEAR, fake=fake_mv,
          vjp={"self": lambda grad, vec: grad.outer(vec), "vec": lambda grad, self: self.t().mv(grad)})
def mv(self, vec):
    """The product of an (n, m) matrix and a vector of m."""
    check_operands("mv", self, vec, 2, 1)
    return product(self, vec)


def fake_dot(self, tensor):
    require_tensor(self, "dot", "input")
    require_tensor(tensor, "dot", "tensor", 2)
    if len(self._shape) != 1 or len(tensor._shape) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(self._shape)}D and {len(tensor._shape)}D "
                           "tensors"
                           + shapes("dot", self, tensor))
    if self._dtype is not tensor._dtype:
        raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                           f"{scalar_type_name(self._dtype)} and {scalar_type_name(tensor._dtype)}")
    if self._shape != tensor._shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{self._shape[0]}] and src "
                           f"[{tensor._shape[0]}] to have the same number of elements, but got "
                           f"{self._shape[0]} and {tensor._shape[0]} elements respectively")
    refuse_bool("dot", self)
    return Fake((), self._dtype)


@operator("dot", jvp=MULTILINEAR, fake=fake_dot,
          vjp={"self": lambda grad, tensor: grad * tensor, "tensor": lambda grad, self: grad * self})
def dot(self, tensor):
    """The inner product of two vectors of one length and dtype."""
    check_operands("dot", self, tensor, 1, 1)
    return np.asarray(product(self, tensor))


@operator("vdot", jvp=MULTILINEAR, fake=fake_dot,
          vjp={"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self})
def vdot(self, other):
    """The inner product of two vectors; the same as `dot` for real numbers."""
    check_operands("vdot", self, other, 1, 1)
    return np.asarray(product(self, other))


def fake_bmm(self, mat2):
    require_tensor(self, "bmm", "input")
    require_tensor(mat2, "bmm", "mat2", 2)
    for name, t in (("batch1", self), ("batch2", mat2)):
        if len(t._shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor" + shapes("bmm", self, mat2))
    expected = [self._shape[0], self._shape[2]]
    if list(mat2._shape[:2]) != expected:
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"{expected} but got: {list(mat2._shape[:2])}." + shapes("bmm", self, mat2))
    same_scalar_type(self, mat2)
    refuse_bool("bmm", self)
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


# ---- compositions ------------------------------------------------------------------------------------------

@composite("matmul", out=True)
def matmul(input, other):
    """The product of vectors, matrices or batches of matrices, by NumPy's rules for `@`."""
    dims = len(input._shape), len(require_other(other)._shape)
    if dims == (2, 2):
        return input.mm(other)
    if dims == (1, 1):
        return input.dot(other)
    if 0 in dims:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and "
                           f"{dims[1]}D")
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
    *batch, m = input.shape
    rows = input.reshape(math.prod(batch), m)
    if len(other._shape) == 1:
        return unsafe_view(rows.mv(other), batch)
    return unsafe_view(rows.mm(other), (*batch, other.shape[1]))


def batched(input, other):
    """Batches with broadcasting, as one bmm."""
    is_vector = len(input._shape) == 1
    a = input.unsqueeze(0) if is_vector else input
    batch, others = a.shape[:-2], other._shape[:-2]
    batch = batch if a._shape[:-2] == others else geometry.broadcast_shapes(a._shape[:-2], others)
    (n, m), (k, p), count = a.shape[-2:], other.shape[-2:], math.prod(batch)
    left = a.expand(*batch, n, m).reshape(count, n, m)
    right = other.expand(*batch, k, p).reshape(count, k, p)
    return unsafe_view(left.bmm(right), (*batch, p) if is_vector else (*batch, n, p))


publish("matmul", matmul, ("linalg",))


def matmul_operator(self, other):
    """`self @ other`. Two matrices, the usual case, go to mm at once, where matmul would send them.

    Others go to the published matmul, which autocast may have wrapped.
    """
    if not isinstance(other, Tensor):
        return NotImplemented
    if len(self._shape) == 2 and len(other._shape) == 2 and not observer.active:
        return mm(self, other)
    return Tensor.matmul(self, other)


def reflected_matmul_operator(self, other):
    """`other @ self`, where `other` does not know how."""
    return matmul_operator(other, self) if isinstance(other, Tensor) else NotImplemented


publish("__matmul__", matmul_operator, ("Tensor",))
publish("__rmatmul__", reflected_matmul_operator, ("Tensor",))


@composite("outer", out=True)
def outer(self, vec2):
    """The products of all pairs of elements of two vectors, (n, m)."""
    require_tensor(vec2, "outer", "vec2", 2)
    for name, t in (("self", self), ("vec2", vec2)):
        if len(t._shape) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {len(t._shape)}-D")
    return self.unsqueeze(1) * vec2


publish("ger", outer, ("", "Tensor"))


@composite("inner", out=True)
def inner(self, other):
    """The sums of products over the last dimensions; of every pair of rows."""
    require_tensor(other, "inner", "other", 2)
    if not self._shape or not other._shape:
        return self * other
    if self._shape[-1] != other._shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(self._shape)} and {list(other._shape)}")
    if self._dtype is not other._dtype:
        raise RuntimeError("both inputs should have same dtype")
    (*rows, m), (*columns, _) = self._shape, other._shape
    left, right = self.reshape(math.prod(rows), m), other.reshape(math.prod(columns), m)
    return left.mm(right.t()).reshape((*rows, *columns))


@composite("linear", out=True, spaces=("nn.functional",))
def linear(input, weight, bias=None):
    """input @ weight.T + bias; `input` (..., in_features), `weight` (out_features, in_features)."""
    if bias is not None and len(input._shape) == 2 and len(weight._shape) == 2:
        return bias.addmm(input, weight.t())
    check_linear(input, weight)
    if bias is None:
        return matmul(input, weight.t())
    *batch, m = input.shape
    found = bias.addmm(input.reshape(math.prod(batch), m), weight.t())
    return found.view((*batch, found.shape[1]))


def check_linear(input, weight):
    require_tensor(input, "linear", "input")
    require_tensor(weight, "linear", "weight", 2)
    if not input._shape or not weight._shape:
        raise RuntimeError("both arguments to linear need to be at least 1D, but they are "
                           f"{len(input._shape)}D and {len(weight._shape)}D")
