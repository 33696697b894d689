"""Activation functions, element by element. Their forms in nn.functional are in functional_activation.py.

An activation that PyTorch computes in one kernel is one operator here, with a backward kernel of its own; the
others are compositions. The formulas are PyTorch's:
https://pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions
"""
import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels import scalar
from ..kernels.pointwise import Pointwise
from .declare import ELEMENTWISE, composite, operator, pointwise
from .elementwise import SAME, fake_rule
from .fake import require_tensor
from .node_names import name_node
from .sequences import number_in
from .pointwise import where
from .pointwise_rules import (floats_only, keep_result_in_place, looped, not_implemented, passing, prepared,
                              widened)

FUNCTIONAL = ("nn.functional",)


ZEROS = {d.numpy: d.numpy.type(0) for d in dt.ALL if d is not dt.bool}


# ---- relu and its relatives --------------------------------------------------------------------------------

def nothing(grad):
    """The derivative of a slope that is constant, but for jumps: zeros, so that a gradient stays part of the graph and
    can be differentiated."""
    return grad.new_zeros(grad._shape)


@pointwise(
    "threshold_backward",
    numpy=lambda g, x, threshold: np.where(x <= threshold, ZEROS[g.dtype], g),
    inplace=False,
    spaces=(),
    vjp={
        "grad": lambda grad, self, threshold: threshold_backward(grad, self, threshold),
        "self": nothing,
    },
)
def threshold_backward(grad, self, threshold):
    """The gradient where self lies above the threshold, else 0."""
    return 0 if self <= threshold else grad


@pointwise(
    "relu_backward",
    numpy=lambda g, result: np.where(result <= ZEROS[g.dtype], ZEROS[g.dtype], g),
    inplace=False,
    spaces=(),
    vjp={
        "grad": lambda grad, result: relu_backward(grad, result),
        "result": nothing,
    },
)
def relu_backward(grad, result):
    """The gradient where relu let its argument through, else 0."""
    return 0 if result <= 0 else grad


name_node("relu_backward", "ThresholdBackwardBackward0")


def refuse_bool(self):
    if self._dtype is dt.bool:
        raise RuntimeError("Boolean inputs not supported for relu")
    return (self,)


passing(refuse_bool, dt.INTEGRAL, dt.FLOATING)


@prepared("relu", refuse_bool, numpy=lambda x: np.maximum(x, ZEROS[x.dtype]),
          vjp={"self": lambda grad, result: relu_backward(grad, result)},
          arrays={"self": lambda grad, result: np.where(result, grad, ZEROS[grad.dtype])})
def relu(self):
    """max(self, 0); the derivative at 0 is 0. RuntimeError for bools."""
    return 0 if self <= 0 else self


def same_category(self, threshold, value):
    """Numbers cut to whole ones for integers."""
    if self._dtype is dt.bool:
        raise not_implemented("threshold_cpu", self._dtype)
    if self._dtype.category == dt.INTEGRAL:
        return self, number_in(self._dtype, threshold), number_in(self._dtype, value)
    return self, threshold, value


@prepared(
    "threshold",
    same_category,
    numpy=lambda x, threshold, value: np.where(x <= threshold, value, x),
    spaces=("",),
    vjp={"self": lambda grad, self, threshold: threshold_backward(grad, self, threshold)},
)
def threshold(self, threshold, value):
    """self where it lies above `threshold`, else `value`."""
    return value if self <= threshold else self


def leaky_gradient(g, x, slope):
    return np.where(x > 0, g, g * slope)


@pointwise("leaky_relu_backward", numpy=widened(leaky_gradient), inplace=False, spaces=(), vjp={
    "grad": lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope),
    "self": nothing})
def leaky_relu_backward(grad, self, negative_slope):
    """The gradient, times the slope where self is not above 0."""
    return grad if self > 0.0 else grad * negative_slope


@prepared(
    "leaky_relu",
    floats_only("leaky_relu_cpu"),
    numpy=widened(lambda x, slope: np.where(x > 0, x, x * slope)),
    spaces=(),
    vjp={"self": lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope)},
)
def leaky_relu(self, negative_slope=0.01):
    """self above 0, negative_slope * self elsewhere."""
    return self if self > 0.0 else self * negative_slope


def leaky_backward_of_result(grad, result, negative_slope):
    """The gradient, from the result alone: unless the slope is negative, it has the sign that self had."""
    if negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This "
            "is caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
            "leakRelu backward calculation with negative slope")
    return leaky_relu_backward(grad, result, negative_slope)


keep_result_in_place("leaky_relu", {"self": leaky_backward_of_result})


@pointwise("hardtanh_backward", inplace=False, spaces=(),
           numpy=lambda g, x, low, high: np.where((x <= low) | (x >= high), ZEROS[g.dtype], g),
           vjp={"grad": lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val, max_val),
                "self": nothing})
def hardtanh_backward(grad, self, min_val, max_val):
    """The gradient strictly between the bounds, else 0."""
    return 0 if self <= min_val or self >= max_val else grad


def bounds_of_category(self, min_val=-1.0, max_val=1.0):
    """Bounds cut to whole numbers for integers, which must be able to hold them."""
    if self._dtype is dt.bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self._dtype.category == dt.FLOATING:
        return self, min_val, max_val
    min_val, max_val = [int(number_in(dt.int64, bound)) for bound in (min_val, max_val)]
    if not self._dtype.is_signed and min_val < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return self, min_val, max_val


@prepared(
    "hardtanh",
    bounds_of_category,
    numpy=lambda x, low, high: np.minimum(np.maximum(x, low), high),
    spaces=(),
    vjp={"self": lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val, max_val)},
)
def hardtanh(self, min_val=-1.0, max_val=1.0):
    """self limited to the range from min_val to max_val; the derivative at a bound is 0."""
    return scalar.minimum(scalar.maximum(self, min_val), max_val)


def elu_of_array(x, alpha, scale, input_scale):
    return np.where(x <= 0, np.expm1(np.minimum(x, 0) * input_scale) * (alpha * scale), x * scale)


def elu_gradient(g, x, alpha, scale, input_scale):
    steep = np.exp(np.minimum(x, 0) * input_scale) * (input_scale * alpha * scale)
    return np.where(x <= 0, g * steep, g * scale)


@pointwise(
    "elu_backward",
    numpy=widened(elu_gradient),
    inplace=False,
    spaces=(),
    vjp={
        "grad": lambda grad_, self, alpha, scale, input_scale: elu_backward(
            grad_, self, alpha, scale, input_scale
        ),
        "self": lambda grad_, grad, self, alpha, scale, input_scale: where(
            self < 0, grad_ * grad * (self * input_scale).exp() * (input_scale**2 * alpha * scale), 0.0
        ),
    },
)
def elu_backward(grad, self, alpha, scale, input_scale):
    """The gradient of elu."""
    steep = scalar.exp(min(self, 0.0) * input_scale) * (input_scale * alpha * scale)
    return grad * steep if self <= 0.0 else grad * scale


@prepared("elu", floats_only("elu_cpu"), numpy=widened(elu_of_array), spaces=(),
          vjp={"self": lambda grad, self, alpha, scale, input_scale:
               elu_backward(grad, self, alpha, scale, input_scale)})
def elu(self, alpha=1.0, scale=1.0, input_scale=1.0):
    """scale * self above 0, scale * alpha * (exp(input_scale * self) - 1) elsewhere."""
    return scalar.expm1(min(self, 0.0) * input_scale) * (alpha * scale) if self <= 0.0 else self * scale


def elu_backward_of_result(grad, result, alpha, scale, input_scale):
    """The gradient, from the result alone: below 0 the slope is the distance to -alpha."""
    if alpha < 0:
        raise RuntimeError(
            "In-place elu backward calculation is triggered with a negative slope which is not supported. This is "
            "caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead.")
    return where(result <= 0, grad * input_scale * (result + alpha * scale), grad * scale)


keep_result_in_place("elu", {"self": elu_backward_of_result})


# Klambauer et al. 2017: with these, activations keep mean 0 and variance 1.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def celu_scale(alpha):
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return 1.0 / alpha


@pointwise(
    "prelu_kernel",
    numpy=widened(lambda x, weight: np.where(x > 0, x, weight * x)),
    inplace=False,
    spaces=(),
    vjp={
        "self": lambda grad, self, weight: where(self > 0, grad, weight * grad),
        "weight": lambda grad, self: where(self > 0, 0.0, self * grad),
    },
)
def prelu_kernel(self, weight):
    """self above 0, weight * self elsewhere."""
    return self if self > 0.0 else weight * self


@composite("prelu", spaces=("", "Tensor", "nn.functional"))
def prelu(self, weight):
    """self above 0, weight * self elsewhere; `weight`: one element, or one for each channel (dimension 1)."""
    check_prelu(self, weight)
    if len(self._shape) > 1:
        weight = weight.reshape(tuple(-1 if d == 1 else 1 for d in range(len(self._shape))))
    elif not self._shape:
        weight = weight.reshape(())
    return prelu_kernel(self, weight)


def check_prelu(self, weight):
    require_tensor(weight, "prelu", "weight", 2)
    if self._dtype.category != dt.FLOATING:
        raise not_implemented("prelu_cpu", self._dtype)
    if self._dtype is not weight._dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {scalar_type_name(self._dtype)} and "
                           f"{scalar_type_name(weight._dtype)}")
    if weight.numel() != 1:
        check_channels(self, weight)
    if len(weight._shape) > 1:
        raise RuntimeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
                           f"{len(weight._shape)}")


def check_channels(self, weight):
    if not self._shape:
        raise RuntimeError("Not allow zero-dim input tensor.")
    channels = self._shape[1] if len(self._shape) > 1 else 1
    if weight.numel() != channels:
        raise RuntimeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                           f"{weight.numel()} and channel size = {channels}.")


# ---- sigmoid and its relatives -----------------------------------------------------------------------------

def logistic(x):
    return 1 / (1 + np.exp(-x))


def silu_gradient(g, x):
    s = logistic(x)
    return g * (s * (1 + x * (1 - s)))


def silu_curvature(x):
    """The second derivative of silu."""
    s = x.sigmoid()
    return s * (1 - s) * (2 + x * (1 - 2 * s))


@pointwise("silu_backward", numpy=widened(silu_gradient), inplace=False, spaces=(),
           vjp={"grad": lambda grad_, self: silu_backward(grad_, self),
                "self": lambda grad_, grad, self: grad_ * grad * silu_curvature(self)})
def silu_backward(grad, self):
    """The gradient of silu."""
    s = scalar.sigmoid(self)
    return grad * (s * (1.0 + self * (1.0 - s)))


@prepared("silu", floats_only("silu_cpu"), numpy=widened(lambda x: x / (1 + np.exp(-x))), spaces=(),
          vjp={"self": lambda grad, self: silu_backward(grad, self)})
def silu(self):
    """self * sigmoid(self)."""
    return scalar.silu(self)


def soft_plus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def mish_gradient(g, x):
    t, s = np.tanh(soft_plus(x)), logistic(x)
    return g * (t + x * s * (1 - t * t))


def mish_curvature(x):
    """The second derivative of mish."""
    t, s = (1 + x.exp()).log().tanh(), x.sigmoid()
    return (1 - t * t) * s * (2 + x * (1 - s - 2 * t * s))


@pointwise("mish_backward", numpy=widened(mish_gradient), inplace=False, spaces=(),
           vjp={"grad": lambda grad_, self: mish_backward(grad_, self),
                "self": lambda grad_, grad, self: grad_ * grad * mish_curvature(self)})
def mish_backward(grad, self):
    """The gradient of mish."""
    t = scalar.tanh(scalar.softplus(self))
    return grad * (t + self * scalar.sigmoid(self) * (1.0 - t * t))


@prepared("mish", floats_only("mish_cpu"), numpy=widened(lambda x: x * np.tanh(soft_plus(x))), spaces=(),
          vjp={"self": lambda grad, self: mish_backward(grad, self)})
def mish(self):
    """self * tanh(softplus(self))."""
    return self * scalar.tanh(scalar.softplus(self))


def softplus_of_array(x, beta, threshold):
    return np.where(x * beta > threshold, x, soft_plus(x * beta) / beta)


def softplus_gradient(g, x, beta, threshold):
    return np.where(x * beta > threshold, g, g * logistic(x * beta))


def softplus_curvature(x, beta, threshold):
    s = (x * beta).sigmoid()
    return where(x * beta > threshold, 0.0, beta * s * (1 - s))


@pointwise("softplus_backward", numpy=widened(softplus_gradient), inplace=False, spaces=(),
           vjp={"grad": lambda grad_, self, beta, threshold: softplus_backward(grad_, self, beta, threshold),
                "self": lambda grad_, grad, self, beta, threshold:
                grad_ * grad * softplus_curvature(self, beta, threshold)})
def softplus_backward(grad, self, beta, threshold):
    """The gradient of softplus."""
    return grad if self * beta > threshold else grad * scalar.sigmoid(self * beta)


@prepared(
    "softplus",
    floats_only("softplus_cpu"),
    numpy=widened(softplus_of_array),
    inplace=False,
    spaces=FUNCTIONAL,
    vjp={"self": lambda grad, self, beta, threshold: softplus_backward(grad, self, beta, threshold)},
)
def softplus(self, beta=1, threshold=20):
    """log(1 + exp(beta * self)) / beta, and self itself where beta * self > threshold."""
    return self if self * beta > threshold else scalar.softplus(self * beta) / beta


def log_sigmoid_of_array(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


@pointwise("log_sigmoid_backward", numpy=widened(lambda g, x: g / (1 + np.exp(x))), inplace=False, spaces=(),
           vjp={"grad": lambda grad_, self: log_sigmoid_backward(grad_, self),
                "self": lambda grad_, grad, self: grad_ * grad * -(self.sigmoid() * (-self).sigmoid())})
def log_sigmoid_backward(grad, self):
    """The gradient of logsigmoid."""
    return grad * scalar.sigmoid(-self)


@prepared(
    "log_sigmoid",
    floats_only("log_sigmoid_cpu"),
    numpy=widened(log_sigmoid_of_array),
    inplace=False,
    spaces=(),
    vjp={"self": lambda grad, self: log_sigmoid_backward(grad, self)},
)
def log_sigmoid(self):
    """log(sigmoid(self)) without overflow."""
    return min(self, 0.0) - scalar.log1p(scalar.exp(-abs(self)))


SIXTH = np.float32(1 / 6).item()                  # PyTorch's own constant has the precision of float32


@pointwise("hardsigmoid_backward", inplace=False, spaces=(),
           numpy=widened(lambda g, x: np.where((x > -3) & (x < 3), g * SIXTH, ZEROS[g.dtype])),
           vjp={"grad": lambda grad_, self: hardsigmoid_backward(grad_, self)})
def hardsigmoid_backward(grad, self):
    """A sixth of the gradient between -3 and 3, else 0."""
    return grad * SIXTH if self > -3.0 and self < 3.0 else 0.0


@prepared(
    "hardsigmoid",
    floats_only("hardsigmoid_cpu"),
    numpy=widened(lambda x: np.clip(x + 3, 0, 6) / 6),
    spaces=(),
    vjp={"self": lambda grad, self: hardsigmoid_backward(grad, self)},
)
def hardsigmoid(self):
    """(self + 3) / 6, limited to the range from 0 to 1."""
    return scalar.minimum(scalar.maximum(self + 3.0, 0.0), 6.0) / 6.0


def hardswish_gradient(g, x):
    return np.where(x <= -3, g.dtype.type(0), np.where(x < 3, g * (x / 3 + 0.5), g))


@pointwise(
    "hardswish_backward",
    numpy=widened(hardswish_gradient),
    inplace=False,
    spaces=(),
    vjp={
        "grad": lambda grad_, self: hardswish_backward(grad_, self),
        "self": lambda grad_, grad, self: where((self > -3).logical_and(self < 3), grad_ * grad / 3, 0.0),
    },
)
def hardswish_backward(grad, self):
    """The gradient of hardswish."""
    return 0.0 if self <= -3.0 else (grad * (self / 3.0 + 0.5) if self < 3.0 else grad)


@prepared(
    "hardswish",
    floats_only("hardswish_cpu"),
    numpy=widened(lambda x: x * np.clip(x + 3, 0, 6) / 6),
    spaces=(),
    vjp={"self": lambda grad, self: hardswish_backward(grad, self)},
)
def hardswish(self):
    """self * hardsigmoid(self)."""
    return self * scalar.minimum(scalar.maximum(self + 3.0, 0.0), 6.0) / 6.0


# ---- gelu --------------------------------------------------------------------------------------------------

SQRT_HALF, SQRT_2_OVER_PI, INV_SQRT_2PI = math.sqrt(0.5), math.sqrt(2 / math.pi), 1 / math.sqrt(2 * math.pi)
CUBIC = 0.044715


def gelu_of_number(x):
    return 0.5 * x * (1.0 + math.erf(x * SQRT_HALF))


def gelu_slope_of_number(x):
    return 0.5 * (1.0 + math.erf(x * SQRT_HALF)) + x * math.exp(-0.5 * x * x) * INV_SQRT_2PI


def gelu_slope(x):
    return 0.5 * (1.0 + scalar.erf(x * SQRT_HALF)) + x * scalar.exp(-0.5 * x * x) * INV_SQRT_2PI


def gelu_form(x):
    return scalar.gelu(x)


def gelu_tanh_form(x):
    return scalar.gelu_tanh(x)


def gelu_backward_form(grad, x):
    return grad * gelu_slope(x)


def gelu_tanh_slope(x):
    t = scalar.tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x))
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * SQRT_2_OVER_PI * (1.0 + 3.0 * CUBIC * x * x)


def gelu_tanh_backward_form(grad, x):
    return grad * gelu_tanh_slope(x)


def gelu_tanh_of_array(x):
    return 0.5 * x * (1 + np.tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x)))


def gelu_tanh_gradient(g, x):
    t = np.tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x))
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (SQRT_2_OVER_PI * (1 + 3 * CUBIC * x * x)))


gelu_slope_of_array = looped(gelu_slope_of_number, gelu_slope)
GELU = {"none": Pointwise(gelu_form, widened(looped(gelu_of_number, gelu_form))),
        "tanh": Pointwise(gelu_tanh_form, widened(gelu_tanh_of_array))}
GELU_BACKWARD = {"none": Pointwise(gelu_backward_form, widened(lambda g, x: g * gelu_slope_of_array(x))),
                 "tanh": Pointwise(gelu_tanh_backward_form, widened(gelu_tanh_gradient))}


def gelu_curvature(x, approximate):
    """The second derivative of gelu."""
    if approximate == "none":
        return (x * x * -0.5).exp() * (INV_SQRT_2PI * (2 - x * x))
    t = ((x + x * x * x * CUBIC) * SQRT_2_OVER_PI).tanh()
    inner = (x * x * (3 * CUBIC) + 1) * SQRT_2_OVER_PI
    return (1 - t * t) * (inner + x * x * (3 * CUBIC * SQRT_2_OVER_PI) - x * t * inner * inner)


def fake_gelu(self, approximate="none"):
    if approximate not in GELU:
        raise RuntimeError("approximate argument must be either none or tanh.")
    if self._dtype.category != dt.FLOATING:
        raise not_implemented("GeluKernelImpl", self._dtype)
    return fake_rule(SAME)(self)


@operator(
    "gelu_backward",
    fake=lambda grad, self, approximate: fake_gelu(self, approximate),
    jvp=ELEMENTWISE,
    spaces=(),
    out=False,
    vjp={
        "grad": lambda grad_, self, approximate: gelu_backward(grad_, self, approximate),
        "self": lambda grad_, grad, self, approximate: grad_ * grad * gelu_curvature(self, approximate),
    },
)
def gelu_backward(grad, self, approximate):
    """The gradient of gelu."""
    return GELU_BACKWARD[approximate](grad, self)


@operator("gelu", fake=fake_gelu, jvp=ELEMENTWISE, spaces=FUNCTIONAL, out=False,
          vjp={"self": lambda grad, self, approximate: gelu_backward(grad, self, approximate)})
def gelu(self, approximate="none"):
    """self * Phi(self), Phi being the normal distribution's cumulative function (Hendrycks and Gimpel 2016).

    approximate: 'none', or 'tanh' for 0.5 * self * (1 + tanh(sqrt(2 / pi) * (self + 0.044715 * self ** 3))).
    """
    if self.dtype.kind in "biu":
        raise TypeError("gelu() needs floats")
    return GELU[approximate](self)


# ---- shrinking ---------------------------------------------------------------------------------------------

@pointwise("shrink_backward", inplace=False, spaces=(),
           numpy=lambda g, x, lambd: np.where((x >= -lambd) & (x <= lambd), ZEROS[g.dtype], g),
           vjp={"grad": lambda grad_, self, lambd: shrink_backward(grad_, self, lambd), "self": nothing})
def shrink_backward(grad, self, lambd):
    """The gradient where self lies outside the range from -lambd to lambd, else 0."""
    return 0 if self >= -lambd and self <= lambd else grad


@prepared("hardshrink", floats_only("hardshrink_cpu"), inplace=False, spaces=("", "Tensor", "nn.functional"),
          numpy=lambda x, lambd: np.where((x >= -lambd) & (x <= lambd), ZEROS[x.dtype], x),
          vjp={"self": lambda grad, self, lambd: shrink_backward(grad, self, lambd)})
def hardshrink(self, lambd=0.5):
    """self, and 0 where it lies in the range from -lambd to lambd."""
    return 0 if self >= -lambd and self <= lambd else self


def checked_lambd(self, lambd=0.5):
    if self._dtype.category != dt.FLOATING:
        raise not_implemented("softshrink_check", self._dtype)
    if not lambd >= 0:
        raise RuntimeError(f"lambda must be in range [0, {dt.finfo(self._dtype).max:g}] for input dtype "
                           f"{scalar_type_name(self._dtype)}, but found {lambd:g}")
    return self, lambd


@prepared(
    "softshrink",
    checked_lambd,
    inplace=False,
    spaces=FUNCTIONAL,
    numpy=widened(lambda x, lambd: np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0))),
    vjp={"self": lambda grad, self, lambd: shrink_backward(grad, self, lambd)},
)
def softshrink(self, lambd=0.5):
    """self drawn towards 0 by lambd; 0 where it lies nearer."""
    return self - lambd if self > lambd else (self + lambd if self < -lambd else self * 0)
