"""Arithmetic of two and more operands, element by element, and Python's operators for it."""
import math

import numpy as np

from ..core import dtype as dt
from ..core import promotion
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..kernels import scalar
from ..kernels.pointwise import Pointwise
from ..tensor import Tensor, array_of, from_array
from .declare import FLOAT, composite, exports, pointwise, publish
from .elementwise import common_dtype, operand
from .node_names import name_node
from .sequences import number_in
from .pointwise_rules import (
    Forms,
    also_called,
    also_in,
    dunder,
    inplace_functions,
    not_implemented,
    passing,
    prepared,
    reflected,
    refusing,
    tensor_first,
    tensors_only,
    widened,
)

ONE_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
    "use the `~` or `logical_not()` operator instead."
)
TWO_BOOLS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
    "operator instead."
)


# ---- sums and differences ----------------------------------------------------------------------------------

def combined_with_multiple(combine):
    """combine(x, alpha * y) for a ufunc, with the variant that writes over x (`Pointwise.into_first`)."""
    def compute(x, y, alpha):
        return combine(x, alpha * y)
    compute.over_first = lambda x, y, alpha: combine(x, alpha * y, x)
    return compute


@pointwise(
    "add",
    numpy=combined_with_multiple(np.add),
    plain=lambda x, y: x + y,
    plain_numpy=np.add,
    vjp={"self": lambda grad: grad, "other": lambda grad, alpha: grad if alpha == 1 else grad * alpha},
)
def add(self, other, *, alpha=1):
    """self + alpha * other, broadcast."""
    return self + alpha * other


def refuse_bools(*args):
    """Bools cannot be subtracted."""
    found = [
        a._dtype is dt.bool if isinstance(a, Tensor) else isinstance(a, (bool, np.bool_)) for a in args[:2]
    ]
    if any(found):
        raise RuntimeError(TWO_BOOLS if all(found) else ONE_BOOL)
    return args


passing(refuse_bools, dt.INTEGRAL, dt.FLOATING, numbers=(int, float))


@prepared(
    "sub",
    refuse_bools,
    numpy=combined_with_multiple(np.subtract),
    plain=lambda x, y: x - y,
    plain_numpy=np.subtract,
    vjp={"self": lambda grad: grad, "other": lambda grad, alpha: -grad if alpha == 1 else grad * -alpha},
)
def sub(self, other, *, alpha=1):
    """self - alpha * other, broadcast. RuntimeError for bools."""
    return self - alpha * other


@prepared(
    "rsub",
    refuse_bools,
    numpy=lambda x, y, alpha: np.subtract(y, alpha * x),
    plain=lambda x, y: y - x,
    plain_numpy=lambda x, y: np.subtract(y, x),
    inplace=False,
    spaces=("",),
    vjp={"self": lambda grad, alpha: -grad if alpha == 1 else grad * -alpha, "other": lambda grad: grad},
)
def rsub(self, other, *, alpha=1):
    """other - alpha * self, broadcast. RuntimeError for bools."""
    return other - alpha * self


def fitting_alpha(name, self, other, alpha):
    """`alpha` as a number of the result's category, which it may not raise. Errors: PyTorch's."""
    if not isinstance(alpha, (int, float, np.generic, Tensor)):
        raise TypeError(f"{name}(): argument 'alpha' must be Number, not {type(alpha).__name__}")
    alpha = alpha.item() if isinstance(alpha, Tensor) else alpha
    category = common_dtype((self, other)).category
    given = promotion.dtype_of_number(alpha).category
    if given == dt.BOOL and category != dt.BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if given == dt.FLOATING and category != dt.FLOATING:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return bool(alpha) if category == dt.BOOL else alpha


def publish_with_alpha(name, spaces):
    """Let the public function look at `alpha`, where it is given, before the operator runs."""
    declared, operator = exports[spaces[0]][name], registry[name].call

    def call(input, other, *, alpha=1, **out):
        if alpha.__class__ is not int or alpha != 1:
            alpha = fitting_alpha(name, input, other, alpha)
        return declared(input, other, alpha=alpha, **out) if out else operator(input, other, alpha)
    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__ = declared.__doc__, declared.__module__
    call.__wrapped__ = declared
    publish(name, call, spaces)


publish_with_alpha("add", ("", "Tensor"))
publish_with_alpha("sub", ("", "Tensor"))
publish_with_alpha("rsub", ("",))
publish_with_alpha("add_", ("Tensor",))
publish_with_alpha("sub_", ("Tensor",))


# ---- products and quotients --------------------------------------------------------------------------------

@pointwise("mul", numpy=np.multiply,
           vjp={"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self},
           arrays={"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self})
def mul(self, other):
    """self * other, broadcast."""
    return self * other


@pointwise("div", numpy=np.divide, kind=FLOAT, spaces=(),
           vjp={"self": lambda grad, other: grad / other,
                "other": lambda grad, self, other: -grad * ((self / other) / other)})
def true_divide(self, other):
    """self / other, broadcast; the quotient of integers is floating."""
    return self / other


def refuse_zero(kernel):
    """A `prepare` for division of integers: PyTorch's errors for bools and for a divisor that is 0."""
    def prepare(self, other):
        dtype = common_dtype((self, other))
        if dtype.category == dt.FLOATING:
            return self, other
        if dtype.category == dt.BOOL:
            raise not_implemented(kernel, dtype)
        if self.__class__ is not Tensor or self.numel():
            refuse_zeros(other, dtype)
        return self, other
    return passing(prepare, dt.FLOATING, numbers=(int, float))


def refuse_zeros(divisor, dtype):
    """RuntimeError if the number, which may wrap to it, or an element is 0; what a meta tensor holds is not known."""
    if isinstance(divisor, Tensor) and divisor.is_meta:
        return
    if not np.all(operand(divisor, dtype)):
        raise RuntimeError("ZeroDivisionError")


def floored_integers(x, y):
    return x // y


def floored_floats(x, y):
    return x / y if y == 0.0 else x // y


floored = Forms(floored_integers, floored_floats)


def no_formula(name):
    """The derivative that PyTorch has no formula for: the result requires grad, and its backward says so."""
    def refuse(grad):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")
    return refuse


def name_not_implemented(name):
    """PyTorch's node of an operator without formulas is not named after it."""
    name_node(name, "NotImplemented")


@prepared("floor_divide", refuse_zero("div_floor_cpu"), numpy=widened(np.floor_divide),
          vjp={"self": no_formula("floor_divide"), "other": no_formula("floor_divide")})
def floor_divide(self, other):
    """The quotient rounded down, broadcast; integers stay integers. RuntimeError: an integer by 0."""
    return floored(self, other)


def truncated_integers(x, y):
    quotient = abs(x) // abs(y)
    return -quotient if (x < 0) != (y < 0) else quotient


def truncated_floats(x, y):
    return np.trunc(x / y)


truncated = Forms(truncated_integers, truncated_floats)


def trunc_divide(x, y):
    if x.dtype.kind in "iu":
        return np.subtract(x, np.fmod(x, y)) // y
    return np.trunc(np.divide(x, y))


def no_gradient(grad):
    """The derivative of a step function: zeros of the gradient's shape."""
    return grad.new_zeros(grad._shape)


@prepared("div_trunc", refuse_zero("div_trunc_cpu"), numpy=widened(trunc_divide), spaces=(),
          vjp={"self": no_gradient, "other": no_gradient})
def div_trunc(self, other):
    """The quotient rounded towards 0."""
    return truncated(self, other)


@prepared("div_floor", refuse_zero("div_floor_cpu"), numpy=widened(np.floor_divide), spaces=(),
          vjp={"self": no_gradient, "other": no_gradient})
def div_floor(self, other):
    """The quotient rounded down."""
    return floored(self, other)


BY_ROUNDING_MODE = {None: true_divide, "trunc": div_trunc, "floor": div_floor}


def rounding(rounding_mode):
    """The operator for a rounding mode. RuntimeError for any but None, 'trunc' and 'floor'."""
    if rounding_mode not in BY_ROUNDING_MODE:
        raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                           f"'{rounding_mode}'")
    return BY_ROUNDING_MODE[rounding_mode]


for _op in ("div_trunc", "div_floor"):
    name_node(_op, "DivBackward2")


def div(input, other, *, rounding_mode=None, out=None):
    """input / other, broadcast; the quotient of integers is floating unless rounded.

    rounding_mode: None, 'trunc' (towards 0) or 'floor' (down); rounded integers stay integers.
    """
    return rounding(rounding_mode)(input, other, out=out)


def div_(self, other, *, rounding_mode=None):
    """In-place version of `div`: changes this tensor and returns it."""
    rounding(rounding_mode)
    return registry["div_" if rounding_mode is None else f"div_{rounding_mode}_"](self, other)


publish("div", div, ("", "Tensor"))
publish("div_", div_, ("Tensor",))
publish("true_divide", true_divide, ("", "Tensor"))
publish("true_divide_", div_, ("Tensor",))


def remainder_of_integers(x, y):
    return x % y


def remainder_of_floats(x, y):
    if y == 0.0:
        return np.nan
    rest = math.fmod(x, y)                          # a rest of 0 keeps the sign of x, unlike Python's
    return rest + y if rest != 0.0 and (y < 0.0) != (rest < 0.0) else rest


def remainder_of_arrays(x, y):
    """`remainder` by NumPy's loops."""
    if x.dtype.kind != "f":
        return np.remainder(x, y)
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


remainder_form = Forms(remainder_of_integers, remainder_of_floats)


@prepared("remainder", refuse_zero("remainder_cpu"), numpy=widened(remainder_of_arrays),
          vjp={"self": lambda grad: grad, "other": lambda grad, self, other: -grad * div_floor(self, other)})
def remainder(self, other):
    """What is left of self after dividing by other, with the sign of other (Python's %)."""
    return remainder_form(self, other)


def fmod_of_integers(x, y):
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


def fmod_of_floats(x, y):
    return math.fmod(x, y)


fmod_form = Forms(fmod_of_integers, fmod_of_floats)


@prepared("fmod", refuse_zero("fmod_cpu"), numpy=widened(np.fmod),
          vjp={"self": lambda grad: grad, "other": lambda grad, self, other: -grad * div_trunc(self, other)})
def fmod(self, other):
    """What is left of self after dividing by other, with the sign of self (C's fmod)."""
    return fmod_form(self, other)


# ---- powers ------------------------------------------------------------------------------------------------

# The usual numbers as exponents of floats have loops of their own, as in PyTorch.
POWERS = {
    1: Pointwise(lambda x: x, np.copy),
    2: Pointwise(lambda x: x * x, np.square),
    3: Pointwise(lambda x: x * x * x, lambda x: x * x * x),
    -1: Pointwise(lambda x: 1.0 / x, np.reciprocal),
    -2: Pointwise(lambda x: 1.0 / (x * x), lambda x: 1 / (x * x)),
    0.5: Pointwise(lambda x: scalar.sqrt(x), np.sqrt),
    -0.5: Pointwise(lambda x: scalar.rsqrt(x), lambda x: 1 / np.sqrt(x)),
}
UNHALVED = (dt.float32, dt.float64)


def power(x, y):
    """NumPy's power, with PyTorch's rules for integers."""
    return power_of_arrays(x, y) if y.__class__ is np.ndarray else np.power(x, y)


def power_of_arrays(x, y):
    if y.dtype.kind != "i" or not (y < 0).any():
        return np.power(x, y)
    inverse = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y & 1), 0))  # of integers, rounded towards 0
    return np.where(y < 0, inverse, np.power(x, np.maximum(y, 0))).astype(y.dtype)


def integer_power(x, y):
    if y < 0:
        return x if x == 1 else (1 - 2 * (y & 1) if x == -1 else 0)
    result = 1
    while y > 0:
        result = result * x if y & 1 else result
        x, y = x * x, y >> 1
    return result


def float_power_form(x, y):
    return x ** y


power_form = Forms(integer_power, float_power_form)


def refuse_powers(self, exponent):
    """Bools have no powers, and integers no negative numbers as exponents, nor such as they cannot hold."""
    dtype = common_dtype((self, exponent))
    if dtype.category == dt.BOOL:
        raise not_implemented("pow", dtype)
    if dtype.category == dt.INTEGRAL and not isinstance(exponent, Tensor):
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        number_in(dtype, exponent)
    return self, exponent


def quick_powers():
    """Put the loops for special exponents in front of the kernel of `pow`."""
    kernel = registry["pow"].own_kernel(K.CPU)

    def cpu(keys, self, exponent):
        if (exponent.__class__ is int or exponent.__class__ is float) and isinstance(self, Tensor):
            special = POWERS.get(exponent) if self._dtype in UNHALVED else None
            if special is not None:
                return from_array(special(array_of(self)), self._dtype)
        return kernel(keys, self, exponent)
    registry["pow"].register(K.CPU, cpu)


def base_gradient(grad, self, exponent):
    """grad * exponent * self ** (exponent - 1), and 0 where the exponent is 0."""
    if exponent.__class__ is int and exponent == 2:
        return grad * (self * 2)
    if not isinstance(exponent, Tensor):
        return no_gradient(grad) if exponent == 0 else grad * (self.pow(exponent - 1) * exponent)
    return exports[""]["where"](exponent == 0, 0.0, grad * (exponent * self.pow(exponent - 1)))


def exponent_gradient(grad, self, exponent, result):
    """grad * result * log(self), and 0 where a base of 0 makes the result 0 or 1 whatever happens near by."""
    if not isinstance(self, Tensor):
        slope = result * (math.log(self) if self > 0 else -math.inf if self == 0 else math.nan)
        is_flat = (exponent >= 0) if self == 0 else None
    else:
        slope = result * self.log()
        is_flat = (self == 0).logical_and(exponent >= 0)
    found = grad * slope
    return found if is_flat is None else exports[""]["where"](is_flat, 0.0, found)


passing(refuse_powers, dt.FLOATING, numbers=(int, float))


@prepared("pow", refuse_powers, numpy=widened(power),
          vjp={"self": base_gradient, "exponent": exponent_gradient})
def pow_(self, exponent):
    """self to the power of exponent, broadcast; either may be a number."""
    return power_form(self, exponent)


quick_powers()


@composite("float_power", out=True)
def float_power(self, exponent):
    """self to the power of exponent, computed in float64."""
    return pow_(in_double(self), in_double(exponent))


def in_double(value):
    return value.double() if isinstance(value, Tensor) else float(value)


def float_power_(self, exponent):
    """In-place version of `float_power`: the tensor must be float64."""
    if self._dtype is not dt.float64:
        kind = {"float32": "Float", "float16": "Half", "bfloat16": "BFloat16"}.get(
            self._dtype.name, self._dtype.name
        )
        raise RuntimeError(
            f"the base given to float_power_ has dtype {kind} but the operation's result requires "
            "dtype Double"
        )
    return self.pow_(in_double(exponent))


publish("float_power_", float_power_, ("Tensor",))


@composite("ldexp", out=True)
def ldexp(self, other):
    """self * 2 ** other."""
    return self * pow_(2.0, other)


def ldexp_(self, other):
    """In-place version of `ldexp`."""
    return self.mul_(pow_(2.0, other))


publish("ldexp_", ldexp_, ("Tensor",))


# ---- larger and smaller ------------------------------------------------------------------------------------

def where(*args):
    return exports[""]["where"](*args)


def of_larger(grad, self, other):
    """The share of `self` in the gradient of the larger one: all, half at a tie, or nothing."""
    return where(self == other, grad / 2, where(self < other, 0.0, grad))


def of_smaller(grad, self, other):
    return where(self == other, grad / 2, where(self > other, 0.0, grad))


@prepared(
    "maximum",
    tensors_only("maximum", "self", "other"),
    numpy=lambda x, y: np.maximum(x, y),
    inplace=False,
    vjp={"self": of_larger, "other": lambda grad, self, other: of_larger(grad, other, self)},
)
def maximum(self, other):
    """The larger one of each pair, NaN if either is."""
    return scalar.maximum(self, other)


@prepared(
    "minimum",
    tensors_only("minimum", "self", "other"),
    numpy=lambda x, y: np.minimum(x, y),
    inplace=False,
    vjp={"self": of_smaller, "other": lambda grad, self, other: of_smaller(grad, other, self)},
)
def minimum(self, other):
    """The smaller one of each pair, NaN if either is."""
    return scalar.minimum(self, other)


@prepared(
    "fmax",
    tensors_only("fmax", "self", "other"),
    numpy=np.fmax,
    inplace=False,
    vjp={
        "self": lambda grad, self, other: where((self >= other).logical_or(other.isnan()), grad, 0.0),
        "other": lambda grad, self, other: where((self >= other).logical_or(other.isnan()), 0.0, grad),
    },
)
def fmax(self, other):
    """The larger one of each pair, the other one if one is NaN."""
    return self if self >= other or other != other else other


@prepared(
    "fmin",
    tensors_only("fmin", "self", "other"),
    numpy=np.fmin,
    inplace=False,
    vjp={
        "self": lambda grad, self, other: where((self <= other).logical_or(other.isnan()), grad, 0.0),
        "other": lambda grad, self, other: where((self <= other).logical_or(other.isnan()), 0.0, grad),
    },
)
def fmin(self, other):
    """The smaller one of each pair, the other one if one is NaN."""
    return self if self <= other or other != other else other


# ---- clamp -------------------------------------------------------------------------------------------------

def clip(x, low, high):
    return np.minimum(np.maximum(x, low), high)


PLAIN_NUMBERS = (int, float)


def bounds(self, min=None, max=None):
    """Numbers in the place of missing bounds. RuntimeError if both are; TypeError if they are mixed."""
    if min.__class__ in PLAIN_NUMBERS and max.__class__ in PLAIN_NUMBERS:
        return self, min, max
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    kinds = {isinstance(bound, Tensor) for bound in (min, max) if bound is not None}
    if len(kinds) == 2:
        raise TypeError(
            "clamp() received an invalid combination of arguments - 'min' and 'max' must both be Tensors "
            "or both be Numbers"
        )
    if min is not None and max is not None:
        return self, min, max
    low, high = lowest_and_highest(common_dtype((self, max if min is None else min)))
    return self, low if min is None else min, high if max is None else max


def lowest_and_highest(dtype):
    """Bounds that change nothing, of the dtype's category."""
    if dtype.category == dt.FLOATING:
        return -math.inf, math.inf
    if dtype.category == dt.BOOL:
        return False, True
    limits = np.iinfo(dtype.numpy)
    return int(limits.min), int(limits.max)


def within(x, low, high):
    return (x >= low) & (x <= high)


@pointwise("clamp_backward", numpy=lambda g, x, low, high: np.where(within(x, low, high), g, g.dtype.type(0)),
           inplace=False, spaces=(),
           vjp={"grad": lambda grad, self, min, max: clamp_backward(grad, self, min, max)})
def clamp_backward(grad, self, min, max):
    """The gradient where self lies within the bounds, themselves included; else 0."""
    return grad if self >= min and self <= max else 0


def clamped_gradient(grad, self, min, max):
    low = -math.inf if min is None else min
    return clamp_backward(grad, self, low, math.inf if max is None else max)


def low_gradient(grad, self, min, max):
    """The gradient of a lower bound: where it is what came out."""
    is_low = self < min
    return where(is_low if max is None else is_low.logical_and(min < max), grad, 0.0)


def high_gradient(grad, self, min, max):
    is_high = self > max
    return where(is_high if min is None else is_high.logical_or(max < min), grad, 0.0)


@prepared(
    "clamp", bounds, numpy=clip, vjp={"self": clamped_gradient, "min": low_gradient, "max": high_gradient}
)
def clamp(self, min=None, max=None):
    """self limited to the range from min to max: numbers or tensors, either may be None.

    Where min is larger, max wins. The derivative at a bound is 1.
    """
    return scalar.minimum(scalar.maximum(self, min), max)


@pointwise("clamp_min", numpy=lambda x, low: np.maximum(x, low),
           vjp={"self": lambda grad, self, min: where(self >= min, grad, 0.0),
                "min": lambda grad, self, min: where(self < min, grad, 0.0)})
def clamp_min(self, min):
    """self, but at least min."""
    return scalar.maximum(self, min)


@pointwise("clamp_max", numpy=lambda x, high: np.minimum(x, high),
           vjp={"self": lambda grad, self, max: where(self <= max, grad, 0.0),
                "max": lambda grad, self, max: where(self > max, grad, 0.0)})
def clamp_max(self, max):
    """self, but at most max."""
    return scalar.minimum(self, max)


# ---- three operands ----------------------------------------------------------------------------------------

def same_floats(self, end, weight):
    """lerp mixes floats of one dtype only."""
    for name, value in (("end", end), ("weight", weight)):
        if isinstance(value, Tensor) and value._dtype is not self._dtype:
            raise RuntimeError(
                f"expected dtype {cpp_name(self)} for `{name}` but got dtype {cpp_name(value)}"
            )
    if self._dtype.category != dt.FLOATING:
        raise not_implemented(
            "lerp_kernel_tensor" if isinstance(weight, Tensor) else "lerp_kernel_scalar", self._dtype
        )
    return self, end, weight


def cpp_name(t):
    return dt.CPP_NAMES[t._dtype.name]


def interpolated(x, end, weight):
    """From the nearer end, so that weights 0 and 1 give the ends exactly."""
    if not np.ndim(weight):
        return x + weight * (end - x) if abs(weight) < 0.5 else end - (end - x) * (1 - weight)
    return np.where(np.abs(weight) < 0.5, x + weight * (end - x), end - (end - x) * (1 - weight))


def interpolate(x, end, weight):
    """The same, written over x."""
    if np.ndim(weight):
        x[...] = interpolated(x, end, weight)
        return x
    way = np.subtract(end, x)
    if abs(weight) < 0.5:
        way *= weight
        return np.add(x, way, x)
    way *= 1 - weight
    return np.subtract(end, way, x)


@prepared("lerp", same_floats, numpy=widened(interpolated, interpolate),
          vjp={"self": lambda grad, weight: grad * (1 - weight), "end": lambda grad, weight: grad * weight,
               "weight": lambda grad, self, end: grad * (end - self)})
def lerp(self, end, weight):
    """self + weight * (end - self): linear interpolation."""
    return self + weight * (end - self) if abs(weight) < 0.5 else end - (end - self) * (1 - weight)


def integer_value(kernel):
    """`value` cannot raise the result's category: a float is cut for integers."""
    def prepare(self, tensor1, tensor2, value):
        dtype = common_dtype((self, tensor1, tensor2))
        if dtype.category == dt.BOOL:
            raise not_implemented(kernel, dtype)
        return self, tensor1, tensor2, int(number_in(dtype, value)) if dtype.category == dt.INTEGRAL else value
    return prepare


def scaled(grad, value):
    return grad if value == 1 else grad * value


def add_combined(combine):
    """x += combine(value * a, b), a ufunc; the value is 1 if it is left out."""
    def over_first(x, a, b, value=None):
        term = combine(a, b) if value is None else np.multiply(value, a)
        if value is not None:
            combine(term, b, term)
        return np.add(x, term, x)
    return over_first


@prepared(
    "addcmul",
    passing(integer_value("addcmul_cpu_out"), dt.FLOATING),
    numpy=widened(lambda x, a, b, value: x + value * a * b, add_combined(np.multiply)),
    plain=lambda x, a, b: x + a * b,
    plain_numpy=widened(lambda x, a, b: np.add(x, a * b), add_combined(np.multiply)),
    vjp={
        "self": lambda grad: grad,
        "tensor1": lambda grad, tensor2, value: grad * scaled(tensor2, value),
        "tensor2": lambda grad, tensor1, value: grad * scaled(tensor1, value),
    },
)
def addcmul(self, tensor1, tensor2, *, value=1):
    """self + value * tensor1 * tensor2, broadcast."""
    return self + value * tensor1 * tensor2


def refuse_integer_division(self, tensor1, tensor2, value):
    if common_dtype((tensor1, tensor2)).category != dt.FLOATING:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv "
            "will perform a true division of tensor1 and tensor2. For integer inputs write "
            "(input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype)."
        )
    return self, tensor1, tensor2, value


@prepared("addcdiv", passing(refuse_integer_division, dt.FLOATING),
          numpy=widened(lambda x, a, b, value: x + value * a / b, add_combined(np.divide)),
          plain=lambda x, a, b: x + a / b,
          plain_numpy=widened(lambda x, a, b: np.add(x, a / b), add_combined(np.divide)),
          vjp={"self": lambda grad: grad,
               "tensor1": lambda grad, tensor2, value: scaled(grad, value) / tensor2,
               "tensor2": lambda grad, tensor1, tensor2, value:
                   -grad * scaled(tensor1, value) / (tensor2 * tensor2)})
def addcdiv(self, tensor1, tensor2, *, value=1):
    """self + value * tensor1 / tensor2, broadcast."""
    return self + value * tensor1 / tensor2


# ---- logarithms, angles and signs of two operands ----------------------------------------------------------

def x_log_y(x, y):
    product = np.multiply(x, np.log(y))
    return np.where((x == 0) & (y == y), x.dtype.type(0), product)


@pointwise("xlogy", numpy=widened(x_log_y), kind=FLOAT,
           vjp={"self": lambda grad, self, other: where(is_flat(self, other), 0.0, xlogy(grad, other)),
                "other": lambda grad, self, other: grad * self / other})
def xlogy(self, other):
    """self * log(other), and 0 where self is 0 (NaN where other is)."""
    return 0.0 if self == 0.0 and other == other else self * scalar.log(other)


def is_flat(self, other):
    """Where xlogy is 0 whatever its first argument does near by."""
    return (
        (self == 0).logical_and(other <= 0) if isinstance(other, Tensor) else (self == 0) & bool(other <= 0)
    )


@prepared(
    "logaddexp",
    tensors_only("logaddexp", "self", "other", then=refusing("logaddexp_cpu", dt.BOOL, dt.INTEGRAL)),
    numpy=widened(np.logaddexp),
    inplace=False,
    vjp={
        "self": lambda grad, self, other: grad / (1 + (other - self).exp()),
        "other": lambda grad, self, other: grad / (1 + (self - other).exp()),
    },
)
def logaddexp(self, other):
    """log(exp(self) + exp(other)) without overflow."""
    larger = scalar.maximum(self, other)
    return larger + (math.log(2.0) if self == other else scalar.log1p(scalar.exp(-abs(self - other))))


@prepared("logaddexp2", tensors_only("logaddexp2", "self", "other",
                                     then=refusing("logaddexp2_cpu", dt.BOOL, dt.INTEGRAL)),
          numpy=widened(np.logaddexp2), inplace=False,
          vjp={"self": lambda grad, self, other: grad / (1 + (other - self).exp2()),
               "other": lambda grad, self, other: grad / (1 + (self - other).exp2())})
def logaddexp2(self, other):
    """log2(2 ** self + 2 ** other) without overflow."""
    larger = scalar.maximum(self, other)
    return larger + (1.0 if self == other else scalar.log2(1.0 + 2.0 ** -abs(self - other)))


@prepared("atan2", tensors_only("atan2", "self", "other"), numpy=widened(np.arctan2), kind=FLOAT,
          vjp={"self": lambda grad, self, other: grad * other * inverse_square(self, other),
               "other": lambda grad, self, other: grad * -self * inverse_square(self, other)})
def atan2(self, other):
    """The angle of the point (other, self), from -pi to pi."""
    return math.atan2(self, other)


def inverse_square(self, other):
    """1 / (self ** 2 + other ** 2), and 0 at the origin."""
    square = self * self + other * other
    return where(square == 0, 0.0, square.reciprocal())


@prepared("hypot", tensors_only("hypot", "self", "other", then=refusing("hypot_cpu", dt.BOOL, dt.INTEGRAL)),
          numpy=widened(np.hypot),
          vjp={"self": lambda grad, self, result: grad * (self / result),
               "other": lambda grad, other, result: grad * (other / result)})
def hypot(self, other):
    """sqrt(self ** 2 + other ** 2) without overflow."""
    return math.hypot(self, other)


@pointwise("copysign", numpy=np.copysign, kind=FLOAT,
           vjp={"self": lambda grad, self, result: where(self == 0, 0.0, grad * (result / self)),
                "other": no_gradient})
def copysign(self, other):
    """self with the sign of other."""
    return math.copysign(self, other)


@prepared(
    "nextafter",
    tensors_only("nextafter", "self", "other", then=refusing("nextafter_cpu", dt.BOOL, dt.INTEGRAL)),
    numpy=np.nextafter,
    vjp={"self": lambda grad, self, other: where(self != other, grad, 0.0), "other": no_gradient},
)
def nextafter(self, other):
    """The next number after self in the direction of other."""
    return np.nextafter(self, other)


def one_dtype(self, values):
    if self._dtype is not values._dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return self, values


def step(x, at_zero):
    return np.where(x == 0, at_zero, (x > 0).astype(x.dtype))


@prepared("heaviside", tensors_only("heaviside", "self", "values", then=one_dtype), numpy=step,
          vjp={"self": no_formula("heaviside"), "values": no_formula("heaviside")})
def heaviside(self, values):
    """The step function: 0 below 0, 1 above, `values` at 0."""
    return values if self == 0 else (1 if self > 0 else 0)


for _op in ("floor_divide", "heaviside"):
    name_not_implemented(_op)


def common_divisor(x, y):
    x, y = abs(x), abs(y)
    while y != 0:
        x, y = y, x % y
    return x


@prepared(
    "gcd", tensors_only("gcd", "self", "other", then=refusing("gcd_cpu", dt.BOOL, dt.FLOATING)), numpy=np.gcd
)
def gcd(self, other):
    """The greatest common divisor of integers."""
    return common_divisor(self, other)


@prepared(
    "lcm", tensors_only("lcm", "self", "other", then=refusing("lcm_cpu", dt.BOOL, dt.FLOATING)), numpy=np.lcm
)
def lcm(self, other):
    """The least common multiple of integers."""
    divisor = common_divisor(self, other)
    return 0 if divisor == 0 else abs(self // divisor * other)


# ---- names and Python's operators --------------------------------------------------------------------------

also_called("sub", "subtract")
also_called("mul", "multiply")
also_called("div", "divide")
also_called("atan2", "arctan2")
also_called("clamp", "clip")
also_in("special", "xlogy")
inplace_functions("clamp", "clip", "clamp_min", "clamp_max", "xlogy", "ldexp", "gcd", "lcm")

tensor_first("rsub", "fmod", "copysign", "clamp_min", "clamp_max", "ldexp")

for _name, _operator in (
    ("mul", "mul"),
    ("truediv", "div"),
    ("floordiv", "floor_divide"),
    ("mod", "remainder"),
    ("pow", "pow"),
):
    dunder(f"__{_name}__", registry[_operator])
    dunder(f"__i{_name}__", registry[_operator + "_"])

for _name in ("add", "sub"):
    dunder(f"__{_name}__", registry[_name], 1)
    dunder(f"__i{_name}__", registry[_name + "_"], 1)

reflected("__radd__", lambda self, other: add(self, other))
reflected("__rsub__", lambda self, other: rsub(self, other))
reflected("__rmul__", lambda self, other: mul(self, other))
publish("__rtruediv__", lambda self, other: self.reciprocal() * other, ("Tensor",))
reflected("__rfloordiv__", lambda self, other: floor_divide(other, self))
reflected("__rmod__", lambda self, other: remainder(other, self))
reflected("__rpow__", lambda self, other: pow_(other, self))

for _old, _new in (("__div__", "__truediv__"), ("__rdiv__", "__rtruediv__"), ("__idiv__", "__itruediv__")):
    publish(_old, exports["Tensor"][_new], ("Tensor",))
