"""Comparison, logic, bits and selection, element by element, and Python's operators for them."""
import numpy as np

from ..core import dtype as dt
from ..core import promotion
from ..core.dtype import scalar_type_name
from ..core.once import warn_once
from ..dispatch.batched import ALLCLOSE, EQUAL, refuse_batched
from ..dispatch.operator import registry
from ..kernels.pointwise import Pointwise
from ..tensor import Tensor, array_of, from_array
from .declare import BOOL, ELEMENTWISE, operator, pointwise, publish
from .elementwise import broadcast_shape, check_devices, common_dtype, refuse_partial_overlap, result_stride
from .fake import Fake, require_tensor
from .sequences import assigned_number
from .pointwise_rules import (
    OPERANDS,
    Forms,
    also_called,
    dunder,
    method_of,
    prepared,
    reflected,
    refusing,
    tensor_first,
    tensors_only,
)


# ---- comparison --------------------------------------------------------------------------------------------

@pointwise("eq", numpy=np.equal, kind=BOOL)
def eq(self, other):
    """Whether self == other, element by element."""
    return self == other


@pointwise("ne", numpy=np.not_equal, kind=BOOL)
def ne(self, other):
    """Whether self != other, element by element."""
    return self != other


@pointwise("lt", numpy=np.less, kind=BOOL)
def lt(self, other):
    """Whether self < other, element by element."""
    return self < other


@pointwise("le", numpy=np.less_equal, kind=BOOL)
def le(self, other):
    """Whether self <= other, element by element."""
    return self <= other


@pointwise("gt", numpy=np.greater, kind=BOOL)
def gt(self, other):
    """Whether self > other, element by element."""
    return self > other


@pointwise("ge", numpy=np.greater_equal, kind=BOOL)
def ge(self, other):
    """Whether self >= other, element by element."""
    return self >= other


def equal_to_array(self, other):
    """`tensor == array` is compared element by element; other types are left to Python."""
    if isinstance(other, np.ndarray):
        return eq(self, from_array(np.ascontiguousarray(other)))
    return NotImplemented


publish("__eq__", method_of(registry["eq"], equal_to_array), ("Tensor",))
for _name in ("ne", "lt", "le", "gt", "ge"):
    dunder(f"__{_name}__", registry[_name])
for _name, _alias in (("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"), ("gt", "greater"),
                      ("ge", "greater_equal")):
    also_called(_name, _alias)
tensor_first(
    "eq", "ne", "lt", "le", "gt", "ge", "not_equal", "less", "less_equal", "greater", "greater_equal"
)


# ---- comparison with a tolerance, and as a whole -----------------------------------------------------------

def fake_isclose(self, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    require_tensor(self, "isclose", "input")
    require_tensor(other, "isclose", "other", 2)
    if self._dtype is not other._dtype:
        raise RuntimeError(f"{scalar_type_name(self._dtype)} did not match {scalar_type_name(other._dtype)}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")
    return Fake(broadcast_shape((self, other)), dt.bool)


@operator("isclose", fake=fake_isclose, out=False)
def isclose(self, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether |self - other| <= atol + rtol * |other|; infinities are close to themselves only."""
    if self.dtype != other.dtype or rtol < 0 or atol < 0:
        raise TypeError("isclose() needs tensors of one dtype and tolerances of at least 0")
    close = self == other
    if self.dtype.kind == "b":
        return close
    if equal_nan:
        close = close | ((self != self) & (other != other))
    wide = np.float64 if self.dtype.kind in "iu" else self.dtype
    with np.errstate(all="ignore"):
        distance = np.abs(np.subtract(self, other, dtype=wide))
        return close | (np.isfinite(distance) & (distance <= atol + np.abs(rtol * other.astype(wide))))


def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all elements are close (see `isclose`), as a Python bool."""
    refuse_batched(input, ALLCLOSE)
    return bool(array_of(isclose(input, other, rtol, atol, equal_nan)).all())


def equal(input, other):
    """Whether two tensors have the same shape and elements, as a Python bool. NaN equals nothing."""
    require_tensor(input, "equal", "input", 1)
    require_tensor(other, "equal", "other", 2)
    check_devices((input, other))
    refuse_batched(input, EQUAL)
    return input._shape == other._shape and bool((array_of(input) == array_of(other)).all())


publish("allclose", allclose, ("", "Tensor"))
publish("equal", equal, ("", "Tensor"))


def refuse_lists(*values):
    if any(isinstance(value, list | tuple) for value in values):
        raise TypeError("isin() needs tensors or numbers")


def fake_isin(elements, test_elements, assume_unique=False, invert=False):
    refuse_lists(elements, test_elements)
    for value in (elements, test_elements):
        if isinstance(value, Tensor) and value._dtype is dt.bool:
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {scalar_type_name(value._dtype)}"
            )
    return Fake(elements._shape if isinstance(elements, Tensor) else (), dt.bool)


@operator("isin", fake=fake_isin, spaces=("",))
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element occurs in `test_elements`; either may be a number. RuntimeError for bools."""
    refuse_lists(elements, test_elements)
    if any(np.asarray(a).dtype.kind == "b" for a in (elements, test_elements)):
        raise TypeError("isin() needs numbers")
    elements, test_elements = [a.astype(np.float32) if a.dtype == dt.bfloat16.numpy else a
                               for a in map(np.asarray, (elements, test_elements))]
    return np.asarray(np.isin(elements, test_elements, assume_unique=assume_unique, invert=invert))


# ---- logic -------------------------------------------------------------------------------------------------

@prepared("logical_and", tensors_only("logical_and", "self", "other"), numpy=np.logical_and, kind=BOOL)
def logical_and(self, other):
    """Whether both are nonzero."""
    return self != 0 and other != 0


@prepared("logical_or", tensors_only("logical_or", "self", "other"), numpy=np.logical_or, kind=BOOL)
def logical_or(self, other):
    """Whether at least one is nonzero."""
    return self != 0 or other != 0


@prepared("logical_xor", tensors_only("logical_xor", "self", "other"), numpy=np.logical_xor, kind=BOOL)
def logical_xor(self, other):
    """Whether exactly one is nonzero."""
    return (self != 0) != (other != 0)


@pointwise("logical_not", numpy=np.logical_not, kind=BOOL)
def logical_not(self):
    """Whether each element is 0."""
    return self == 0


# ---- bits --------------------------------------------------------------------------------------------------

@prepared("bitwise_and", refusing("bitwise_and_cpu", dt.FLOATING), numpy=np.bitwise_and)
def bitwise_and(self, other):
    """The bits that are set in both; of bools, their logical and."""
    return self & other


@prepared("bitwise_or", refusing("bitwise_or_cpu", dt.FLOATING), numpy=np.bitwise_or)
def bitwise_or(self, other):
    """The bits that are set in at least one; of bools, their logical or."""
    return self | other


@prepared("bitwise_xor", refusing("bitwise_xor_cpu", dt.FLOATING), numpy=np.bitwise_xor)
def bitwise_xor(self, other):
    """The bits that are set in exactly one; of bools, their exclusive or."""
    return self ^ other


def inverted_bits(x):
    return ~x


def inverted_bool(x):
    return not x


inverted = Forms(inverted_bits, inverted_bits, inverted_bool)


@prepared("bitwise_not", refusing("bitwise_not_cpu", dt.FLOATING), numpy=np.invert)
def bitwise_not(self):
    """Every bit turned over; of bools, their negation."""
    return inverted(self)


def shifted_left(x, y):
    """x << y, and 0 where the shift is negative or as wide as the dtype, which C leaves open."""
    bits = x.dtype.itemsize * 8
    return np.where((y < 0) | (y >= bits), x.dtype.type(0), np.left_shift(x, np.clip(y, 0, bits - 1)))


def shifted_right(x, y):
    """x >> y; a shift that is negative or as wide as the dtype leaves the sign alone."""
    most = x.dtype.itemsize * 8 - 1
    if x.dtype.kind == "u":
        return np.where((y < 0) | (y > most), x.dtype.type(0), np.right_shift(x, np.minimum(y, most)))
    return np.right_shift(x, np.where((y < 0) | (y > most), most, y).astype(x.dtype))


@prepared("bitwise_left_shift", refusing("lshift_cpu", dt.BOOL, dt.FLOATING), numpy=shifted_left)
def bitwise_left_shift(self, other):
    """self * 2 ** other, of integers."""
    return 0 if other < 0 or other > 63 else self << other


@prepared("bitwise_right_shift", refusing("rshift_cpu", dt.BOOL, dt.FLOATING), numpy=shifted_right)
def bitwise_right_shift(self, other):
    """self divided by 2 ** other and rounded down, of integers."""
    return self >> (63 if other < 0 or other > 63 else other)


def swapped(operator):
    return lambda self, other: operator(other, self)


for _name, _operator in (("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor"),
                         ("lshift", "bitwise_left_shift"), ("rshift", "bitwise_right_shift")):
    dunder(f"__{_name}__", registry[_operator])
    dunder(f"__i{_name}__", registry[_operator + "_"])
    reflected(f"__r{_name}__", swapped(registry[_operator]))


def __invert__(self):
    """~self. TypeError for floats."""
    if self._dtype.category == dt.FLOATING:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


publish("__invert__", __invert__, ("Tensor",))


# ---- selection ---------------------------------------------------------------------------------------------

def fake_where(condition, self, other):
    if condition._dtype not in (dt.bool, dt.uint8):
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{scalar_type_name(condition._dtype)}")
    for value in (self, other):
        if not isinstance(value, OPERANDS):
            raise TypeError(f"where(): arguments must be Tensors or Numbers, not {type(value).__name__}")
    operands = (condition, self, other)
    check_devices(operands)
    shape = broadcast_shape(operands)
    return Fake(shape, common_dtype((self, other)), result_stride(operands, shape))


selection = Pointwise(lambda condition, x, y: x if condition else y, np.where)


def dtype_of_arrays(x, y):
    """The NumPy dtype of two operands, given as arrays and numbers, by PyTorch's promotion."""
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype == y.dtype:
        return x.dtype
    classes = [None, None, None]
    for a in (x, y):
        is_array = isinstance(a, np.ndarray)
        which = (0 if a.ndim else 1) if is_array else 2
        found = dt.from_numpy(a.dtype) if is_array else promotion.dtype_of_number(a)
        classes[which] = found if classes[which] is None else promotion.promote_types(classes[which], found)
    return promotion.combine(*classes).numpy


def converted(a, dtype):
    """An array or number of the given dtype."""
    if isinstance(a, np.ndarray):
        return a if a.dtype == dtype else a.astype(dtype)
    return assigned_number(dt.from_numpy(dtype), a)


@operator("where", fake=fake_where, jvp=ELEMENTWISE, spaces=(),
          vjp={"self": lambda grad, condition: where(condition, grad, 0.0),
               "other": lambda grad, condition: where(condition, 0.0, grad)})
def where_(condition, self, other):
    """Elements of self where the condition holds, of other elsewhere."""
    if condition.dtype not in (np.bool_, np.uint8):
        raise TypeError("where() needs a condition of dtype bool")
    dtype = dtype_of_arrays(self, other)
    return selection(condition if condition.dtype == np.bool_ else condition != 0, converted(self, dtype),
                     converted(other, dtype))


_where = registry["where"].__call__


def where(condition, input=None, other=None, *, out=None):
    """Elements of `input` where `condition` (bool) holds, of `other` elsewhere (tensors or numbers).

    With the condition alone: the indices of its nonzero elements, a tensor per dimension.
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    warn_of_bytes(condition)
    if out is not None:
        refuse_partial_overlap(out, (condition, input, other))
        return where_(condition, input, other, out=out)
    return _where(condition, input, other)


def where_method(self, condition, other):
    """Elements of this tensor where `condition` holds, of `other` elsewhere."""
    warn_of_bytes(condition)
    return _where(condition, self, other)


def warn_of_bytes(condition):
    if isinstance(condition, Tensor) and condition._dtype is dt.uint8:
        warn_once("where of uint8", "where received a uint8 condition tensor. This behavior is deprecated "
                  "and will be removed in a future version of PyTorch. Use a boolean condition instead.")


publish("where", where, ("",))
publish("where", where_method, ("Tensor",))
