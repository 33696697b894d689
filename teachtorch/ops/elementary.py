"""Functions of one number, element by element: signs, rounding, powers, exponentials, angles, NaN and infinity."""
import math

import numpy as np

from ..core import dtype as dt
from ..dispatch.wrong_types import require_tensor
from ..kernels import scalar
from ..kernels.pointwise import faster_in_numpy
from ..tensor import Tensor, stride_of
from .declare import BOOL, FLOAT, composite, exports, operator, pointwise, publish
from .fake import Fake
from .node_names import name_node
from .pointwise import no_gradient, where
from .pointwise_rules import (
    Forms, also_called, also_in, floats_only, inplace_functions, passing, prepared, refusing, widened,
)


# ---- signs -------------------------------------------------------------------------------------------------

def refuse_bool(self):
    if self._dtype is dt.bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return (self,)


passing(refuse_bool, dt.INTEGRAL, dt.FLOATING)


@prepared("neg", refuse_bool, numpy=np.negative, vjp={"self": lambda grad: -grad})
def neg(self):
    """-self. RuntimeError for bools."""
    return -self


@composite("positive")
def positive(self):
    """The tensor itself. RuntimeError for bools."""
    if self._dtype is dt.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@prepared(
    "abs", refusing("abs_cpu", dt.BOOL), numpy=np.absolute, vjp={"self": lambda grad, self: grad * self.sgn()}
)
def abs_(self):
    """The absolute value; the derivative at 0 is 0."""
    return abs(self)


def sign_of_number(x):
    return 1 if x > 0 else (-1 if x < 0 else 0)


def unchanged(x):
    return x


sign_form = Forms(sign_of_number, sign_of_number, unchanged)


def sign_of_array(x):
    """-1, 0 or 1; 0 for NaN, as in PyTorch."""
    return x.copy() if x.dtype == np.bool_ else np.subtract(x > 0, x < 0, dtype=np.int8).astype(x.dtype)


@pointwise("sign", numpy=sign_of_array, vjp={"self": no_gradient})
def sign(self):
    """-1, 0 or 1 by the sign of each element."""
    return sign_form(self)


@pointwise("sgn", numpy=sign_of_array, vjp={"self": no_gradient})
def sgn(self):
    """-1, 0 or 1 by the sign of each element (of complex numbers, which there are none of, the direction)."""
    return sign_form(self)


@pointwise("signbit", numpy=lambda x: np.signbit(x) if x.dtype.kind not in "biu" else x < 0, kind=BOOL,
           inplace=False)
def signbit(self):
    """Whether the sign bit is set, as it is for -0.0."""
    return math.copysign(1.0, self) < 0.0


# ---- rounding ----------------------------------------------------------------------------------------------

def on_floats(ufunc):
    """A rounding function of arrays: whole numbers stay as they are."""
    return widened(lambda x: x.copy() if x.dtype.kind in "iu" else ufunc(x))


def floor_of_float(x):
    return np.floor(x)


def ceil_of_float(x):
    return np.ceil(x)


def trunc_of_float(x):
    return np.trunc(x)


def round_of_float(x):
    return np.rint(x)


floor_form, ceil_form = Forms(unchanged, floor_of_float), Forms(unchanged, ceil_of_float)
trunc_form, round_form = Forms(unchanged, trunc_of_float), Forms(unchanged, round_of_float)


@prepared("floor", refusing("floor_vml_cpu", dt.BOOL), numpy=on_floats(np.floor), vjp={"self": no_gradient})
def floor(self):
    """The largest whole number that is not larger."""
    return floor_form(self)


@prepared("ceil", refusing("ceil_vml_cpu", dt.BOOL), numpy=on_floats(np.ceil), vjp={"self": no_gradient})
def ceil(self):
    """The smallest whole number that is not smaller."""
    return ceil_form(self)


@prepared("trunc", refusing("trunc_vml_cpu", dt.BOOL), numpy=on_floats(np.trunc), vjp={"self": no_gradient})
def trunc(self):
    """The whole part: rounded towards 0."""
    return trunc_form(self)


@prepared(
    "frac", floats_only("frac_cpu"), numpy=widened(lambda x: x - np.trunc(x)), vjp={"self": lambda grad: grad}
)
def frac(self):
    """The part after the point, with the sign of the number."""
    return self - np.trunc(self)


@prepared("round", refusing("round_vml_cpu", dt.BOOL), numpy=on_floats(np.rint), vjp={"self": no_gradient})
def round_(self):
    """The nearest whole number, an even one from half way."""
    return round_form(self)


@prepared("round_decimals", floats_only("round_cpu"), vjp={"self": no_gradient}, spaces=(),
          numpy=widened(lambda x, up, down: np.rint(x * up / down) / up * down))
def round_decimals(self, up, down):
    """Rounded to a multiple of down / up."""
    return np.rint(self * up / down) / up * down


def powers_of_ten(decimals):
    return (10.0 ** decimals, 1.0) if decimals >= 0 else (1.0, 10.0 ** -decimals)


def publish_round():
    """`round` with its option `decimals`, and the same in place."""
    whole, whole_ = exports[""]["round"], exports["Tensor"]["round_"]
    operator_ = round_decimals

    def round(input, *, decimals=0, out=None):
        """The nearest number with so many decimals (negative: tens, hundreds), an even one from half way."""
        if decimals == 0:
            return whole(input, out=out)
        return operator_(input, *powers_of_ten(decimals), out=out)

    def round_in_place(self, *, decimals=0):
        """In-place version of `round`."""
        return whole_(self) if decimals == 0 else self.copy_(round(self, decimals=decimals))
    publish("round", round, ("", "Tensor"))
    publish("round_", round_in_place, ("Tensor",))


publish_round()


# ---- powers and roots --------------------------------------------------------------------------------------

@composite("square", out=True)
def square(self):
    """The square of each element."""
    return self.pow(2)


def square_(self):
    """In-place version of `square`: changes this tensor and returns it."""
    return self.pow_(2)


publish("square_", square_, ("Tensor",))


@pointwise("sqrt", numpy=np.sqrt, kind=FLOAT, vjp={"self": lambda grad, result: grad / (2 * result)})
def sqrt(self):
    """The square root, NaN below 0."""
    return scalar.sqrt(self)


@pointwise("rsqrt", numpy=widened(lambda x: 1 / np.sqrt(x)), kind=FLOAT,
           vjp={"self": lambda grad, result: -0.5 * grad * result.pow(3)})
def rsqrt(self):
    """1 / sqrt(self)."""
    return scalar.rsqrt(self)


@pointwise(
    "reciprocal",
    numpy=np.reciprocal,
    kind=FLOAT,
    vjp={"self": lambda grad, result: -grad * (result * result)},
)
def reciprocal(self):
    """1 / self."""
    return 1.0 / self


# ---- exponentials and logarithms ---------------------------------------------------------------------------

@pointwise("exp", numpy=np.exp, kind=FLOAT, vjp={"self": lambda grad, result: grad * result})
def exp(self):
    """e to the power of each element."""
    return scalar.exp(self)


@pointwise("exp2", numpy=np.exp2, kind=FLOAT, vjp={"self": lambda grad, result: grad * result * math.log(2)})
def exp2(self):
    """2 to the power of each element."""
    return 2.0 ** self


@pointwise("expm1", numpy=np.expm1, kind=FLOAT, vjp={"self": lambda grad, result: grad * (result + 1)})
def expm1(self):
    """exp(self) - 1, accurate near 0."""
    return scalar.expm1(self)


@pointwise("log", numpy=np.log, kind=FLOAT, vjp={"self": lambda grad, self: grad / self})
def log(self):
    """The natural logarithm."""
    return scalar.log(self)


@pointwise("log2", numpy=np.log2, kind=FLOAT, vjp={"self": lambda grad, self: grad / (self * math.log(2))})
def log2(self):
    """The logarithm to base 2."""
    return scalar.log2(self)


@pointwise("log10", numpy=np.log10, kind=FLOAT, vjp={"self": lambda grad, self: grad / (self * math.log(10))})
def log10(self):
    """The logarithm to base 10."""
    return scalar.log10(self)


@pointwise("log1p", numpy=np.log1p, kind=FLOAT, vjp={"self": lambda grad, self: grad / (self + 1)})
def log1p(self):
    """log(1 + self), accurate near 0."""
    return scalar.log1p(self)


name_node("log1p", "Log1PBackward0")


@pointwise("sigmoid_backward", numpy=widened(lambda g, r: g * ((1 - r) * r)), inplace=False, spaces=(),
           vjp={"grad": lambda grad, result: grad * ((1 - result) * result),
                "result": lambda grad_, grad, result: grad_ * grad * (1 - 2 * result)})
def sigmoid_backward(grad, result):
    """The gradient of sigmoid, from its result."""
    return grad * ((1.0 - result) * result)


@pointwise("sigmoid", numpy=widened(lambda x: 1 / (1 + np.exp(-x))), kind=FLOAT,
           vjp={"self": lambda grad, result: sigmoid_backward(grad, result)})
def sigmoid(self):
    """1 / (1 + exp(-self))."""
    return scalar.sigmoid(self)


def no_limit(self, eps=None):
    """`eps` None becomes a negative number, which limits nothing."""
    return self, -1.0 if eps is None else eps


def logit_of_array(x, eps):
    inside = x if eps < 0 else np.clip(x, eps, 1 - eps)
    return np.log(inside / (1 - inside))


def logit_gradient(grad, self, eps):
    """grad / (x (1 - x)) inside the limits, outside NaN without `eps` and 0 with it; infinite at 0 and -0."""
    low, outside = (0.0, math.nan) if eps is None or eps < 0 else (eps, 0.0)
    is_outside = (self < low).logical_or(self > 1 - low)
    return where(is_outside, outside, grad / (self.abs() * (1 - self)))


@prepared("logit", no_limit, numpy=widened(logit_of_array), kind=FLOAT, vjp={"self": logit_gradient})
def logit(self, eps=None):
    """log(self / (1 - self)), the inverse of sigmoid; with `eps`, of self between eps and 1 - eps."""
    limited = self if eps < 0.0 else min(max(self, eps), 1.0 - eps)
    return scalar.log(limited / (1.0 - limited))


# ---- angles ------------------------------------------------------------------------------------------------

@pointwise("sin", numpy=np.sin, kind=FLOAT, vjp={"self": lambda grad, self: grad * self.cos()})
@faster_in_numpy
def sin(self):
    """The sine."""
    return math.sin(self)


@pointwise("cos", numpy=np.cos, kind=FLOAT, vjp={"self": lambda grad, self: grad * -self.sin()})
@faster_in_numpy
def cos(self):
    """The cosine."""
    return math.cos(self)


@pointwise("tan", numpy=np.tan, kind=FLOAT, vjp={"self": lambda grad, result: grad * (1 + result * result)})
def tan(self):
    """The tangent."""
    return math.tan(self)


@pointwise(
    "asin", numpy=np.arcsin, kind=FLOAT, vjp={"self": lambda grad, self: grad * (1 - self * self).rsqrt()}
)
def asin(self):
    """The inverse of the sine, NaN outside -1 to 1."""
    return np.arcsin(self)


@pointwise(
    "acos", numpy=np.arccos, kind=FLOAT, vjp={"self": lambda grad, self: grad * -(1 - self * self).rsqrt()}
)
def acos(self):
    """The inverse of the cosine, NaN outside -1 to 1."""
    return np.arccos(self)


@pointwise("atan", numpy=np.arctan, kind=FLOAT, vjp={"self": lambda grad, self: grad / (self * self + 1)})
def atan(self):
    """The inverse of the tangent."""
    return math.atan(self)


@pointwise("sinh", numpy=np.sinh, kind=FLOAT, vjp={"self": lambda grad, self: grad * self.cosh()})
def sinh(self):
    """The hyperbolic sine."""
    return np.sinh(self)


@pointwise("cosh", numpy=np.cosh, kind=FLOAT, vjp={"self": lambda grad, self: grad * self.sinh()})
def cosh(self):
    """The hyperbolic cosine."""
    return np.cosh(self)


@pointwise("tanh_backward", numpy=widened(lambda g, r: g * (1 - r * r)), inplace=False, spaces=(),
           vjp={"grad": lambda grad, result: tanh_backward(grad, result),
                "result": lambda grad_, grad, result: grad_ * grad * (-2 * result)})
def tanh_backward(grad, result):
    """The gradient of tanh, from its result."""
    return grad * (1.0 - result * result)


@pointwise("tanh", numpy=np.tanh, kind=FLOAT, vjp={"self": lambda grad, result: tanh_backward(grad, result)})
def tanh(self):
    """The hyperbolic tangent."""
    return scalar.tanh(self)


@pointwise(
    "asinh", numpy=np.arcsinh, kind=FLOAT, vjp={"self": lambda grad, self: grad * (self * self + 1).rsqrt()}
)
def asinh(self):
    """The inverse of the hyperbolic sine."""
    return np.arcsinh(self)


@pointwise(
    "acosh", numpy=np.arccosh, kind=FLOAT, vjp={"self": lambda grad, self: grad * (self * self - 1).rsqrt()}
)
def acosh(self):
    """The inverse of the hyperbolic cosine, NaN below 1."""
    return np.arccosh(self)


@pointwise("atanh", numpy=np.arctanh, kind=FLOAT, vjp={"self": lambda grad, self: grad / (1 - self * self)})
def atanh(self):
    """The inverse of the hyperbolic tangent, NaN outside -1 to 1."""
    return np.arctanh(self)


def sinc_gradient(grad, self):
    angle = self * math.pi
    slope = (angle.cos() * angle - angle.sin()) / (angle * self)
    return where(self == 0, 0.0, grad * slope)


@pointwise("sinc", numpy=widened(np.sinc), kind=FLOAT, vjp={"self": sinc_gradient})
def sinc(self):
    """sin(pi x) / (pi x), and 1 at 0."""
    return 1.0 if self == 0.0 else math.sin(math.pi * self) / (math.pi * self)


@pointwise("deg2rad", numpy=widened(lambda x: x * (math.pi / 180)), kind=FLOAT,
           vjp={"self": lambda grad: grad * (math.pi / 180)})
def deg2rad(self):
    """Degrees to radians."""
    return self * (math.pi / 180.0)


@pointwise("rad2deg", numpy=widened(lambda x: x * (180 / math.pi)), kind=FLOAT,
           vjp={"self": lambda grad: grad * (180 / math.pi)})
def rad2deg(self):
    """Radians to degrees."""
    return self * (180.0 / math.pi)


@pointwise(
    "angle",
    numpy=widened(lambda x: np.where(x < 0, x.dtype.type(math.pi), np.where(x != x, x, x.dtype.type(0)))),
    kind=FLOAT,
    inplace=False,
    vjp={"self": no_gradient},
)
def angle(self):
    """The angle of each number in the complex plane: pi below 0, else 0."""
    return math.pi if self < 0.0 else (0.0 if self == self else self)


# ---- NaN and infinity --------------------------------------------------------------------------------------

def replacements(self, nan=None, posinf=None, neginf=None):
    """The numbers that replace NaN and the infinities: 0 and the dtype's limits unless given."""
    if self._dtype.category != dt.FLOATING:
        return self, False, False, False
    limits = dt.finfo(self._dtype)
    return (self, 0.0 if nan is None else nan, limits.max if posinf is None else posinf,
            limits.min if neginf is None else neginf)


def replaced(x, nan, posinf, neginf):
    if x.dtype.kind in "biu":
        return x.copy()
    return np.where(x != x, nan, np.where(x == np.inf, posinf, np.where(x == -np.inf, neginf, x)))


def replaced_float(x, nan, posinf, neginf):
    return nan if x != x else (posinf if x == np.inf else (neginf if x == -np.inf else x))


def replaced_whole(x, nan, posinf, neginf):
    return x


replaced_form = Forms(replaced_whole, replaced_float, replaced_whole)


@prepared("nan_to_num", replacements, numpy=replaced, vjp={"self": lambda grad, self: grad * self.isfinite()})
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers: by 0 and the dtype's largest and smallest unless given."""
    return replaced_form(self, nan, posinf, neginf)


@pointwise("isnan", numpy=np.isnan, kind=BOOL, inplace=False)
def isnan(self):
    """Whether each element is NaN."""
    return self != self


@pointwise("isinf", numpy=np.isinf, kind=BOOL, inplace=False)
def isinf(self):
    """Whether each element is infinite."""
    return abs(self) == np.inf


@pointwise("isfinite", numpy=np.isfinite, kind=BOOL, inplace=False)
def isfinite(self):
    """Whether each element is neither NaN nor infinite."""
    return abs(self) < np.inf


@pointwise(
    "isposinf",
    numpy=lambda x: x == np.inf if x.dtype.kind not in "biu" else np.zeros_like(x, np.bool_),
    kind=BOOL,
    inplace=False,
)
def isposinf(self):
    """Whether each element is +infinity."""
    return self == np.inf


@pointwise(
    "isneginf",
    numpy=lambda x: x == -np.inf if x.dtype.kind not in "biu" else np.zeros_like(x, np.bool_),
    kind=BOOL,
    inplace=False,
)
def isneginf(self):
    """Whether each element is -infinity."""
    return self == -np.inf


@pointwise("isreal", numpy=lambda x: np.ones_like(x, np.bool_), kind=BOOL, inplace=False)
def isreal(self):
    """Whether each element is a real number: all are, there being no complex ones."""
    return True


@composite("real")
def real(self):
    """The tensor itself, there being no complex numbers."""
    require_tensor("real", self)
    return self


def imag(input):
    """RuntimeError: there are no complex numbers, and only these have an imaginary part."""
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


@composite("conj_physical", out=True)
def conj_physical(self):
    """The tensor itself: there are no complex numbers."""
    require_tensor("conj_physical", self)
    return self


for _name in ("conj", "resolve_conj", "resolve_neg"):
    publish(_name, exports[""]["real"], ("", "Tensor"))
publish("conj_physical_", exports[""]["real"], ("", "Tensor"))
Tensor.real = property(exports["Tensor"].pop("real"))
publish("imag", imag, ("",))
Tensor.imag = property(imag)


# ---- names and Python's operators --------------------------------------------------------------------------

for _name, _alias in (("abs", "absolute"), ("neg", "negative"), ("trunc", "fix"), ("acos", "arccos"),
                      ("asin", "arcsin"), ("atan", "arctan"), ("acosh", "arccosh"), ("asinh", "arcsinh"),
                      ("atanh", "arctanh")):
    also_called(_name, _alias)

also_in("special", "exp2", "expm1", "log1p", "round", "sinc", "logit", "expit=sigmoid")
also_in("nn.functional", "sigmoid", "tanh")
inplace_functions(
    "abs", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan",
    "atanh", "ceil", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "fix", "floor", "frac", "log", "log10", "log1p",
    "log2", "logit", "nan_to_num", "neg", "negative", "rad2deg", "reciprocal", "round", "rsqrt", "sigmoid", "sin",
    "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)

publish("__neg__", exports["Tensor"]["neg"], ("Tensor",))
publish("__pos__", exports["Tensor"]["positive"], ("Tensor",))
publish("__abs__", exports["Tensor"]["abs"], ("Tensor",))


# ---- mantissa and exponent ------------------------------------------------------------------------------------

def fake_frexp(self):
    if not self._dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return Fake(self._shape, self._dtype, stride_of(self)), Fake(self._shape, dt.int32, stride_of(self))


@operator("frexp", fake=fake_frexp, outputs=("mantissa", "exponent"),
          vjp={"self": lambda grads, exponent: grads[0] / exponent.exp2()},
          jvp=lambda self_t, exponent: (self_t / exponent.exp2(), None))
def frexp(self):
    """(mantissa, exponent) with self = mantissa * 2**exponent and 0.5 <= |mantissa| < 1; the exponent is int32."""
    if self.dtype.kind in "biu":
        raise TypeError("frexp() needs floats")
    mantissa, exponent = np.frexp(self if self.dtype.itemsize > 2 else self.astype(np.float32))
    return mantissa.astype(self.dtype), np.where(np.isfinite(mantissa), exponent, 0).astype(np.int32)
name_node("round_decimals", "RoundBackward1")
