"""Arithmetic of sparse tensors, and the functions that keep zeros zero: they act on the values alone."""
import numpy as np

from ...core import dtype as dt
from ...core import geometry
from ...core.dtype import scalar_type_name
from ...core.promotion import can_cast
from ...dispatch import keys as K
from ...dispatch.operator import registry
from ...kernels import sparse as kernels
from ...tensor import Tensor, array_of, entries_of, from_array
from ..convert import cast
from ..elementwise import common_dtype, refuse_overlap
from ..sequences import number_in
from .convert import dense_array
from .declare import (
    become,
    entry_count,
    is_sparse,
    on_sparse,
    parts,
    sparse,
    sparse_dims,
    with_values,
)
from .reading import coalesced, empty_sparse, require_inside
from .refuse import no_kernel

# ---- sums --------------------------------------------------------------------------------------------------

SPARSE_PLUS_DENSE = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."


def sum_of(self, other, alpha):
    """self + alpha * other: sparse if both are, dense if `self` is."""
    if not is_sparse(other) or not isinstance(self, Tensor):
        raise RuntimeError(SPARSE_PLUS_DENSE)
    dtype = common_dtype((self, other))
    return sum_of_sparse(self, other, alpha, dtype) if is_sparse(self) else sum_with_dense(self, other, alpha, dtype)


def in_dtype(t, dtype):
    """(indices, values) with the values in a dtype."""
    indices, values = parts(t)
    return indices, values if t._dtype is dtype else cast(values, dtype)


def scaled(values, factor, dtype):
    return values if factor == 1 else values * number_in(dtype, factor)


def sum_of_sparse(self, other, alpha, dtype):
    if self._shape != other._shape:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(self._shape)} != "
                           f"{list(other._shape)}")
    if sparse_dims(self) != sparse_dims(other) and entry_count(self) and entry_count(other):
        raise RuntimeError("add: expected 'self' and 'other' to have same density, but 'self' has "
                           f"{sparse_dims(self)} sparse dimensions while 'other' has {sparse_dims(other)} sparse "
                           "dimensions")
    left, (indices, values) = in_dtype(self, dtype), in_dtype(other, dtype)
    right = indices, scaled(values, alpha, dtype)
    is_mergeable = left[1].flags.c_contiguous and values.flags.c_contiguous
    flags = entries_of(self).is_coalesced, entries_of(other).is_coalesced
    if not entry_count(other) or not entry_count(self):
        (indices, values), flag = (left, flags[0]) if entry_count(self) else (right, flags[1])
        return sparse(indices.copy(), values.copy(), self._shape, flag)
    if not is_mergeable:
        return appended(left, right, self._shape)
    sizes = self._shape[:sparse_dims(self)]
    return sparse(*kernels.sum_of(left, right, *[kernels.positions(i, sizes) for i, _ in (left, right)]), self._shape,
                  all(flags))


def appended(left, right, shape):
    """The entries of both, one list after the other, which is what PyTorch does where values are not contiguous. More
    entries than there are elements are coalesced."""
    both = sparse(np.concatenate([left[0], right[0]], 1), np.concatenate([left[1], right[1]]), shape)
    if entry_count(both) <= both.numel():
        return both
    both = coalesced(both)
    return with_values(both, entries_of(both).values, False)


def check_same_size(self, other):
    if self._shape != other._shape:
        raise RuntimeError("add: expected 'self' and 'other' to have same size, but self has size "
                           f"{list(self._shape)} while other has size {list(other._shape)} (FYI: dense-sparse addition "
                           "does not currently support broadcasting)")


def sum_with_dense(self, other, alpha, dtype):
    check_same_size(self, other)
    result = np.array(array_of(self), dtype.numpy, order="C")
    add_entries(result, other, alpha, dtype)
    return from_array(result)


def add_entries(array, other, alpha, dtype):
    """Add the entries of a sparse tensor into a dense array of its shape."""
    require_inside(other)
    indices, values = in_dtype(other, dtype)
    values = scaled(values, alpha, dtype)
    if array.flags.c_contiguous and len(indices):
        kernels.add_into(array, indices, values, other._shape[:len(indices)])
    else:
        np.add.at(array, tuple(indices), values.reshape(values.shape if len(indices) else values.shape[1:]))


@on_sparse("add")
def add(keys, self, other, alpha=1):
    return sum_of(self, other, alpha)


@on_sparse("sub")
def sub(keys, self, other, alpha=1):
    return sum_of(self, other, -alpha)


@on_sparse("add_")
def add_(keys, self, other, alpha=1):
    dtype = None if not is_sparse(other) else common_dtype((self, other))
    if dtype is not None and not can_cast(dtype, self._dtype):
        raise RuntimeError(f"Can't convert result type {scalar_type_name(dtype)} to output "
                           f"{scalar_type_name(self._dtype)} in add operation")
    if is_sparse(self) or dtype is None:
        return become(self, converted(sum_of(self, other, alpha), self._dtype))
    check_same_size(self, other)
    refuse_overlap(self)
    add_entries(array_of(self), other, alpha, self._dtype)
    return self


@on_sparse("sub_")
def sub_(keys, self, other, alpha=1):
    return add_(keys, self, other, -alpha)


def converted(t, dtype):
    return t if t._dtype is dtype else with_values(t, cast(parts(t)[1], dtype))


# ---- products ----------------------------------------------------------------------------------------------

def is_number(value):
    """Whether a factor is one number for all elements: a Python number or a 0-dim strided tensor."""
    return not isinstance(value, Tensor) or not value._shape and not is_sparse(value)


@on_sparse("mul")
def mul(keys, self, other):
    if is_number(self) or is_number(other):
        t, factor = (other, self) if is_number(self) else (self, other)
        return of_values(t, "mul", factor)
    if is_sparse(self) and is_sparse(other):
        return intersection(self, other)
    return times_dense(self, other) if is_sparse(self) else times_dense(other, self)


def of_values(t, name, other, *args):
    """A strided operator of the values and one number; the dtype is the one that the tensor and the number have."""
    dtype = common_dtype((t, other))
    values = entries_of(t).values
    found = registry[name].redispatch(K.CPU, values, other, *args)
    return converted(with_values(t, found), dtype) if name == "mul" else with_values(t, found)


def times_dense(self, other):
    """The values times the dense factor's elements at their places; elsewhere the product is zero."""
    shape = geometry.broadcast_shapes(self._shape, other._shape)
    if shape != self._shape:
        self = broadcast(self, shape)
    indices, values = parts(self)
    dtype = common_dtype((self, other))
    require_inside(self)
    factors = np.broadcast_to(array_of(other), shape)[tuple(indices)].reshape(values.shape)
    return with_values(self, cast(values, dtype) * cast(factors, dtype))


def broadcast(t, shape):
    """A sparse tensor repeated along new first dimensions and those of size 1, coalesced."""
    if not parts(t)[0].shape[0] and t._shape:
        raise RuntimeError("broadcasting needs sparse dimensions")
    array = np.broadcast_to(dense_array(t), shape)
    is_entry = np.broadcast_to(dense_array(with_values(t, np.ones_like(parts(t)[1]))), shape)
    dense = len(t._shape) - sparse_dims(t)
    is_kept = (is_entry != 0).any(tuple(range(len(shape) - dense, len(shape)))) if dense else is_entry != 0
    places = is_kept.nonzero()
    return sparse(np.array(places, np.int64), np.ascontiguousarray(array[places]), shape, True)


def intersection(self, other):
    """The product of two sparse tensors: entries of one (`source`), times the sum of the other's at their place."""
    if sparse_dims(self) != sparse_dims(other) or self._shape != other._shape:
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number "
            "of sparse dimensions, and shape of sparse dimensions"
        )
    dtype = common_dtype((self, other))
    if not entry_count(self) or not entry_count(other):
        return empty_sparse(self._shape, dtype, sparse_dims(self))
    searched, source = searched_and_source(self, other)
    sizes = self._shape[:sparse_dims(self)]
    (indices, values), (others, factors) = in_dtype(source, dtype), in_dtype(searched, dtype)
    i, j = kernels.matches(kernels.positions(indices, sizes), kernels.positions(others, sizes))
    kept, group = np.unique(i, return_inverse=True)
    products = kernels.added(values[i] * factors[j], group, kept.size)
    return sparse(indices[:, kept], products, self._shape, entries_of(source).is_coalesced)


def searched_and_source(x, y):
    """Which factor is searched, and whose entries the result has: PyTorch's choice."""
    if entries_of(x).is_coalesced != entries_of(y).is_coalesced:
        return (x, y) if entries_of(x).is_coalesced else (y, x)
    return (x, y) if entry_count(x) >= entry_count(y) else (y, x)


@on_sparse("mul_")
def mul_(keys, self, other):
    if not is_sparse(self):
        refuse_overlap(self)
        np.multiply(array_of(self), cast(dense_array(other), self._dtype), out=array_of(self))
        return self
    if is_number(other):
        registry["mul_"].redispatch(K.CPU, entries_of(self).values, other)
        return self
    return become(self, converted(mul(keys, self, other), self._dtype))


# ---- quotients, by one number ------------------------------------------------------------------------------

def check_divisor(self, other):
    if not is_sparse(self):
        raise RuntimeError("Sparse division requires a sparse dividend")
    if not is_number(other):
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
                           f"{list(other._shape)} for divisor)")


@on_sparse("div")
def div(keys, self, other):
    check_divisor(self, other)
    return of_values(self, "div", other)


def rounded_quotient(name):
    """Rounding is not linear, so the entries are added up first."""
    @on_sparse(name)
    def quotient(keys, self, other):
        check_divisor(self, other)
        return of_values(coalesced(self), name, other)


for _name in ("div_floor", "div_trunc", "floor_divide"):
    rounded_quotient(_name)


@on_sparse("div_")
def div_(keys, self, other):
    check_divisor(self, other)
    registry["div_"].redispatch(K.CPU, entries_of(self).values, other)
    return self


# ---- powers ------------------------------------------------------------------------------------------------

@on_sparse("pow")
def pow_(keys, self, exponent):
    if isinstance(exponent, Tensor) or not is_sparse(self):
        raise no_kernel(registry["pow"], (self, exponent))
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    c = coalesced(self)
    return with_values(c, registry["pow"].redispatch(K.CPU, entries_of(c).values, exponent), True)


# ---- functions with f(0) = 0 -------------------------------------------------------------------------------

KEEP_ZERO = [
    "abs", "asin", "asinh", "atan", "atanh", "ceil", "erf", "erfinv", "expm1", "floor", "frac", "isnan",
    "isinf", "isposinf", "isneginf", "log1p", "nan_to_num", "rad2deg", "deg2rad", "relu", "round",
    "sign", "sgn", "signbit", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]


def keeping_zero(name):
    """The kernels of `name` and `name_`: the strided kernel, on the values of the coalesced tensor."""
    op, inplace = registry[name], registry.get(name + "_")

    def function(keys, self, *args):
        c = coalesced(self)
        return with_values(c, op.redispatch(K.CPU, entries_of(c).values, *args), True)

    def function_(keys, self, *args):
        if not entries_of(self).is_coalesced:
            raise RuntimeError(f"{name}_ requires coalesced input")
        inplace.redispatch(K.CPU, entries_of(self).values, *args)
        return self

    on_sparse(name)(function)
    if inplace is not None:
        on_sparse(name + "_")(function_)


for _name in KEEP_ZERO:
    if _name in registry:
        keeping_zero(_name)


@on_sparse("neg")
def neg(keys, self):
    return with_values(self, registry["neg"].redispatch(K.CPU, entries_of(self).values))


@on_sparse("neg_")
def neg_(keys, self):
    registry["neg_"].redispatch(K.CPU, entries_of(self).values)
    return self


@on_sparse("any")
def any_(keys, self, dim=None, keepdim=False):
    if dim is not None or keepdim:
        raise no_kernel(registry["any"], (self, dim, keepdim))
    found = np.asarray(parts(coalesced(self))[1].any())
    return from_array(found.astype(np.uint8) if self._dtype is dt.uint8 else found)
