"""Activations as nn.functional has them: with `inplace`, and those that are composed of others."""

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..dispatch.operator import registry
from .activation import FUNCTIONAL, SELU_ALPHA, SELU_SCALE, celu_scale, log_sigmoid
from .declare import exports, pointwise, publish
from .pointwise_rules import inplace_functions, not_implemented


def functional(name):
    """Publish a function in nn.functional."""

    def declare(function):
        function.__name__ = function.__qualname__ = name
        return publish(name, function, FUNCTIONAL)

    return declare


def run(name, inplace, *args):
    """Call the operator, or its in-place variant."""
    return registry[name + "_" if inplace else name](*args)


@functional("relu")
def functional_relu(input, inplace=False):
    """max(input, 0), element by element."""
    return run("relu", inplace, input)


@functional("relu6")
def functional_relu6(input, inplace=False):
    """min(max(input, 0), 6), element by element."""
    return run("hardtanh", inplace, input, 0.0, 6.0)


@functional("hardtanh")
def functional_hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input limited to the range from min_val to max_val. ValueError if min_val is the larger one."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return run("hardtanh", inplace, input, min_val, max_val)


@functional("leaky_relu")
def functional_leaky_relu(input, negative_slope=0.01, inplace=False):
    """input above 0, negative_slope * input elsewhere."""
    return run("leaky_relu", inplace, input, negative_slope)


@functional("threshold")
def functional_threshold(input, threshold, value, inplace=False):
    """input where it lies above `threshold`, else `value`."""
    return run("threshold", inplace, input, threshold, value)


@functional("elu")
def functional_elu(input, alpha=1.0, inplace=False):
    """input above 0, alpha * (exp(input) - 1) elsewhere."""
    return run("elu", inplace, input, alpha, 1.0, 1.0)


def selu(input):
    """elu with the constants of Klambauer et al. 2017, which keep activations at mean 0 and variance 1."""
    return run("elu", False, input, SELU_ALPHA, SELU_SCALE, 1.0)


def selu_(input):
    """In-place version of `selu`."""
    return run("elu", True, input, SELU_ALPHA, SELU_SCALE, 1.0)


@functional("selu")
def functional_selu(input, inplace=False):
    """elu with the constants of Klambauer et al. 2017, which keep activations at mean 0 and variance 1."""
    return run("elu", inplace, input, SELU_ALPHA, SELU_SCALE, 1.0)


def celu(input, alpha=1.0):
    """input above 0, alpha * (exp(input / alpha) - 1) elsewhere. RuntimeError if alpha is 0."""
    return run("elu", False, input, alpha, 1.0, celu_scale(alpha))


def celu_(input, alpha=1.0):
    """In-place version of `celu`."""
    return run("elu", True, input, alpha, 1.0, celu_scale(alpha))


@functional("celu")
def functional_celu(input, alpha=1.0, inplace=False):
    """input above 0, alpha * (exp(input / alpha) - 1) elsewhere. RuntimeError if alpha is 0."""
    return run("elu", inplace, input, alpha, 1.0, celu_scale(alpha))


@functional("silu")
def functional_silu(input, inplace=False):
    """input * sigmoid(input), also called swish."""
    return run("silu", inplace, input)


@functional("mish")
def functional_mish(input, inplace=False):
    """input * tanh(softplus(input))."""
    return run("mish", inplace, input)


@functional("hardsigmoid")
def functional_hardsigmoid(input, inplace=False):
    """(input + 3) / 6, limited to the range from 0 to 1."""
    return run("hardsigmoid", inplace, input)


@functional("hardswish")
def functional_hardswish(input, inplace=False):
    """input * hardsigmoid(input)."""
    return run("hardswish", inplace, input)


@functional("logsigmoid")
def functional_logsigmoid(input):
    """log(sigmoid(input)) without overflow."""
    return log_sigmoid(input)


@functional("softsign")
def functional_softsign(input):
    """input / (1 + |input|)."""
    return input / (input.abs() + 1)


@functional("tanhshrink")
def functional_tanhshrink(input):
    """input - tanh(input)."""
    return input - input.tanh()


@functional("glu")
def functional_glu(input, dim=-1):
    """a * sigmoid(b), with a and b the two halves of input along `dim`, whose size must be even."""
    if input._dtype.category != dt.FLOATING:
        raise not_implemented("glu_cpu", input._dtype)
    if not input._shape:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    dim = geometry.wrap_dim(dim, len(input._shape))
    size = input._shape[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    return input.narrow(dim, 0, size // 2) * input.narrow(dim, size // 2, size // 2).sigmoid()


@pointwise("rrelu_with_noise", numpy=np.multiply, spaces=(), vjp={
    "self": lambda grad, noise: grad * noise, "noise": lambda grad, self: grad * self})
def rrelu_with_noise(self, noise):
    """self * noise, with noise 1 where self is above 0 and the slope elsewhere."""
    return self * noise


def slopes_of_rrelu(input, lower, upper, training):
    """1 above 0, elsewhere a slope; PyTorch draws one number, of double precision, for each element not above 0."""
    ones = exports[""]["ones_like"](input.detach())
    if input.is_meta:
        return ones
    is_low = input.detach() <= 0
    if not training:
        return ones.masked_fill(is_low, (lower + upper) / 2)
    draws = ones.new_empty(int(is_low.sum()), dtype=dt.float64).uniform_(lower, upper)
    return ones.masked_scatter(is_low, draws.to(ones._dtype))


def rrelu(input, lower=1 / 8, upper=1 / 3, training=False):
    """input above 0, elsewhere times a slope: in training random from lower to upper, else their mean."""
    return functional_rrelu(input, lower, upper, training)


@functional("rrelu")
def functional_rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    """input above 0, elsewhere times a slope: in training random from lower to upper, else their mean."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    return run("rrelu_with_noise", inplace, input, slopes_of_rrelu(input, lower, upper, training))


def rrelu_(input, lower=1 / 8, upper=1 / 3, training=False):
    """rrelu in place."""
    return functional_rrelu(input, lower, upper, training, True)


def threshold_(input, threshold, value):
    """threshold in place."""
    return run("threshold", True, input, threshold, value)


publish("rrelu", rrelu, ("",))
publish("rrelu_", rrelu_, ("", *FUNCTIONAL))
publish("selu", selu, ("",))
publish("selu_", selu_, ("",))
publish("celu", celu, ("",))
publish("celu_", celu_, ("",))
publish("threshold_", threshold_, ("",))
inplace_functions("relu")

for _name, _function in (("relu_", exports["Tensor"]["relu_"]), ("selu_", selu_), ("celu_", celu_),
                         ("threshold_", exports[""]["threshold_"])):
    publish(_name, _function, FUNCTIONAL)


@functional("elu_")
def elu_(input, alpha=1.0):
    """In-place version of `elu`."""
    return run("elu", True, input, alpha, 1.0, 1.0)


@functional("leaky_relu_")
def leaky_relu_(input, negative_slope=0.01):
    """In-place version of `leaky_relu`."""
    return run("leaky_relu", True, input, negative_slope)


@functional("hardtanh_")
def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """In-place version of `hardtanh`."""
    return run("hardtanh", True, input, min_val, max_val)
