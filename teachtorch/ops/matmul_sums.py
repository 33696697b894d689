"""Sums with matrix products: beta * a tensor + alpha * a product, in one operator each."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry, promotion
from ..core.dtype import OF_NUMPY, cpp_name, scalar_type_name
from .declare import exports, operator, publish
from .elementwise import wide_number_in
from .fake import Fake, require_tensor
from .matmul import (check_multiplies, check_mv, check_operands, fake_bmm, first_gradient, first_gradient_on_arrays,
                     product, refuse_bool, second_gradient, second_gradient_on_arrays, shapes)


def scaled(t, factor):
    """t * factor; of an integer tensor by the factor's integer part."""
    if factor == 1:
        return t
    return t * (factor if t._dtype.is_floating_point else int(factor))


def expands(bias, shape):
    """The added tensor must expand to the product's shape."""
    geometry.expand(bias._shape, (0,) * len(bias._shape), 0, shape)


def plus_product(bias, result, beta, alpha):
    """beta * bias + alpha * result, in result's memory. With beta 0, NaNs in `bias` are ignored."""
    if bias.dtype != result.dtype:
        raise TypeError("the added tensor has another dtype than the product")
    beta, alpha = [wide_number_in(OF_NUMPY[result.dtype], factor) for factor in (beta, alpha)]
    if alpha != 1:
        np.multiply(result, alpha, result)
    if beta == 1:
        return np.add(result, bias, result)        # a ValueError if `bias` does not expand to the product
    if beta == 0:
        np.broadcast_to(bias, result.shape)
        return result
    return np.add(result, (bias * beta).astype(result.dtype, copy=False), result)


def sum_tangent(result_shape, beta, alpha, self_t, *products):
    """beta * self_t + alpha * (the products with a tangent), of those that are not None."""
    found = None if self_t is None else scaled(self_t, beta).expand(result_shape)
    for p in products:
        if p is not None:
            found = scaled(p, alpha) if found is None else found + scaled(p, alpha)
    return found


def same_dtypes(self, mat1, mat2):
    """The summand and both factors must have one dtype."""
    for name, t in (("self", self), ("mat1", mat1)):
        if t._dtype is not mat2._dtype:
            raise RuntimeError(f"{name} and mat2 must have the same dtype, but got {scalar_type_name(t._dtype)} and "
                               f"{scalar_type_name(mat2._dtype)}")


def fake_addmm(self, mat1, mat2, beta=1, alpha=1):
    require_tensor(self, "addmm", "input")
    require_tensor(mat1, "addmm", "mat1", 2)
    require_tensor(mat2, "addmm", "mat2", 3)
    for name, t in (("mat1", mat1), ("mat2", mat2)):
        if len(t._shape) != 2:
            raise RuntimeError(f"{name} must be a matrix, got {len(t._shape)}-D tensor")
    check_multiplies(mat1, mat2)
    same_dtypes(self, mat1, mat2)
    shape = (mat1._shape[0], mat2._shape[1])
    expands(self, shape)
    refuse_bool("addmm_impl_cpu_", mat1)
    return Fake(shape, self._dtype)


def addmm_jvp(self_t, mat1_t, mat2_t, mat1, mat2, beta, alpha, result):
    return sum_tangent(result._shape, beta, alpha, self_t, None if mat1_t is None else mat1_t.mm(mat2),
                       None if mat2_t is None else mat1.mm(mat2_t))


@operator("addmm", jvp=addmm_jvp, fake=fake_addmm, inplace=True, vjp={
    "self": lambda grad, beta: scaled(grad, beta),
    "mat1": lambda grad, mat2, mat1_geometry, alpha: scaled(first_gradient(grad, mat2, mat1_geometry), alpha),
    "mat2": lambda grad, mat1, mat2_geometry, alpha: scaled(second_gradient(grad, mat1, mat2_geometry), alpha)},
    arrays={
    "self": lambda grad, beta: grad if beta == 1 else NotImplemented,
    "mat1": lambda grad, mat2, mat1_geometry, alpha: first_gradient_on_arrays(
        grad, mat2, mat1_geometry) if alpha == 1 else NotImplemented,
    "mat2": lambda grad, mat1, mat2_geometry, alpha: second_gradient_on_arrays(
        grad, mat1, mat2_geometry) if alpha == 1 else NotImplemented})
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    """beta * self + alpha * (mat1 @ mat2); `self` is broadcast. With beta 0, NaNs in `self` are ignored."""
    check_operands("addmm", mat1, mat2, 2, 2)
    return plus_product(self, product(mat1, mat2), beta, alpha)


def fake_addmv(self, mat, vec, beta=1, alpha=1):
    require_tensor(self, "addmv", "input")
    check_mv(self, mat, vec, "addmv")
    return Fake(mat._shape[:1], self._dtype)


def addmv_jvp(self_t, mat_t, vec_t, mat, vec, beta, alpha, result):
    return sum_tangent(result._shape, beta, alpha, self_t, None if mat_t is None else mat_t.mv(vec),
                       None if vec_t is None else mat.mv(vec_t))


@operator("addmv", jvp=addmv_jvp, fake=fake_addmv, inplace=True, vjp={
    "self": lambda grad, beta: scaled(grad, beta),
    "mat": lambda grad, vec, alpha: scaled(grad.outer(vec), alpha),
    "vec": lambda grad, mat, alpha: scaled(mat.t().mv(grad), alpha)})
def addmv(self, mat, vec, *, beta=1, alpha=1):
    """beta * self + alpha * (mat @ vec)."""
    check_operands("addmv", mat, vec, 2, 1)
    return plus_product(self, product(mat, vec), beta, alpha)


publish("addmv_", exports["Tensor"]["addmv_"], ("",))


def fake_baddbmm(self, batch1, batch2, beta=1, alpha=1):
    require_tensor(self, "baddbmm", "input")
    require_tensor(batch1, "baddbmm", "batch1", 2)
    require_tensor(batch2, "baddbmm", "batch2", 3)
    if len(batch1._shape) == len(batch2._shape) == 3:
        expands(self, (batch1._shape[0], batch1._shape[1], batch2._shape[2]))
    if not self._dtype is batch1._dtype is batch2._dtype:
        raise RuntimeError(f"Input dtypes must be the same, got: input {cpp_name(self._dtype)}, batch1: "
                           f"{cpp_name(batch1._dtype)}, batch2: {cpp_name(batch2._dtype)}")
    return fake_bmm(batch1, batch2)


def baddbmm_jvp(self_t, batch1_t, batch2_t, batch1, batch2, beta, alpha, result):
    return sum_tangent(result._shape, beta, alpha, self_t, None if batch1_t is None else batch1_t.bmm(batch2),
                       None if batch2_t is None else batch1.bmm(batch2_t))


@operator("baddbmm", jvp=baddbmm_jvp, fake=fake_baddbmm, inplace=True, vjp={
    "self": lambda grad, beta: scaled(grad, beta),
    "batch1": lambda grad, batch2, alpha: scaled(grad.bmm(batch2.transpose(1, 2)), alpha),
    "batch2": lambda grad, batch1, alpha: scaled(batch1.transpose(1, 2).bmm(grad), alpha)})
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    """beta * self + alpha * bmm(batch1, batch2)."""
    check_operands("baddbmm", batch1, batch2, 3, 3)
    if batch1.shape[0] != batch2.shape[0]:
        raise TypeError("baddbmm(): batches of different sizes")
    return plus_product(self, product(batch1, batch2), beta, alpha)


def fake_addbmm(self, batch1, batch2, beta=1, alpha=1):
    require_tensor(self, "addbmm", "input")
    require_tensor(batch1, "addbmm", "batch1", 2)
    require_tensor(batch2, "addbmm", "batch2", 3)
    for name, t in (("batch1", batch1), ("batch2", batch2)):
        if len(t._shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor" + shapes("addbmm", batch1, batch2))
    (count, n, m), (other, k, p) = batch1._shape, batch2._shape
    expands(self, (n, p))
    if count != other:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {count} and {other}")
    if m != k:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({n}x{m} and {k}x{p})")
    same_dtypes(self, batch1, batch2)
    refuse_bool("addmm_impl_cpu_", batch1)
    return Fake((n, p), self._dtype)


def addbmm_jvp(self_t, batch1_t, batch2_t, batch1, batch2, beta, alpha, result):
    return sum_tangent(result._shape, beta, alpha, self_t,
                       None if batch1_t is None else batch1_t.bmm(batch2).sum(0),
                       None if batch2_t is None else batch1.bmm(batch2_t).sum(0))


def to_batch(grad, partner):
    """The gradient of a sum over a batch: the same for each of its matrices."""
    return grad.unsqueeze(0).expand(partner._shape[0], *grad._shape)


@operator("addbmm", jvp=addbmm_jvp, fake=fake_addbmm, inplace=True, vjp={
    "self": lambda grad, beta: scaled(grad, beta),
    "batch1": lambda grad, batch2, alpha: scaled(to_batch(grad, batch2).bmm(batch2.transpose(1, 2)), alpha),
    "batch2": lambda grad, batch1, alpha: scaled(batch1.transpose(1, 2).bmm(to_batch(grad, batch1)), alpha)})
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    """beta * self + alpha * the sum over the batch of bmm(batch1, batch2)."""
    check_operands("addbmm", batch1, batch2, 3, 3)
    if batch1.shape[0] != batch2.shape[0]:
        raise TypeError("addbmm(): batches of different sizes")
    return plus_product(self, product(batch1, batch2).sum(0, dtype=batch1.dtype), beta, alpha)


def common_dtype(a, b, c):
    return promotion.promote_types(promotion.promote_types(a, b), c)


def fake_addr(self, vec1, vec2, beta=1, alpha=1):
    require_tensor(self, "addr", "input")
    require_tensor(vec1, "addr", "vec1", 2)
    require_tensor(vec2, "addr", "vec2", 3)
    for name, t in (("vec1", vec1), ("vec2", vec2)):
        if len(t._shape) != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {len(t._shape)}-D")
    expands(self, (vec1._shape[0], vec2._shape[0]))
    dtype = common_dtype(self._dtype, vec1._dtype, vec2._dtype)
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if dtype.category == dt.INTEGRAL and isinstance(factor, float):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point "
                               "number.")
    return Fake((vec1._shape[0], vec2._shape[0]), dtype)


def addr_jvp(self_t, vec1_t, vec2_t, vec1, vec2, beta, alpha, result):
    return sum_tangent(result._shape, beta, alpha, self_t, None if vec1_t is None else vec1_t.outer(vec2),
                       None if vec2_t is None else vec1.outer(vec2_t))


@operator("addr", jvp=addr_jvp, fake=fake_addr, inplace=True, vjp={
    "self": lambda grad, beta: scaled(grad, beta),
    "vec1": lambda grad, vec2, alpha: scaled(grad.mv(vec2), alpha),
    "vec2": lambda grad, vec1, alpha: scaled(grad.t().mv(vec1), alpha)})
def addr(self, vec1, vec2, *, beta=1, alpha=1):
    """beta * self + alpha * outer(vec1, vec2); of bools "and" is the product and "or" the sum."""
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise TypeError("addr(): vectors expected")
    dtype = self.dtype
    if dtype != vec1.dtype or dtype != vec2.dtype:
        dtype = common_dtype(*[OF_NUMPY[a.dtype] for a in (self, vec1, vec2)]).numpy
    if dtype.kind in "iu" and (isinstance(beta, float) or isinstance(alpha, float)):
        raise TypeError("addr(): integers and a float factor")
    outer = np.multiply.outer(vec1, vec2).astype(dtype, copy=False)
    return plus_product(self.astype(dtype, copy=False), outer, beta, alpha)
