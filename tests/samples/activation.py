"""Samples for teachtorch/ops/activation.py and functional_activation.py."""
import numpy as np

from tests.samples import apart, ints, positive, sample, x
from tests.samples.elementary import arrays, off_zero


def with_gradient(*parameters):
    """A backward kernel: gradient, input and parameters."""
    return [sample(x(2, 3, seed=1), off_zero(2, 3), *parameters), sample(x(seed=1), off_zero(), *parameters),
            sample(x(0, 3), off_zero(0, 3), *parameters), sample(x(3, 2).T, off_zero(3, 2).T, *parameters)]


def wide(*shape, seed=0):
    """Values from -4.9 to 4.9, away from whole numbers."""
    return np.asarray(apart(*shape, seed=seed, gap=0.84))


def with_wide_gradient(*parameters):
    return [sample(x(3, 4, seed=1), wide(3, 4), *parameters), sample(x(seed=1), wide(), *parameters)]


PRELU = [
    sample(off_zero(3, 4), positive(4)),
    sample(off_zero(3, 4), positive(1)),
    sample(off_zero(2, 3, 2), positive(3)),
    sample(off_zero(3), positive(1)),
    sample(off_zero(), positive(1)),
    sample(off_zero(0, 3), positive(3)),
    sample(off_zero(4, 3).T, positive(4)),
]

SAMPLES = {
    "relu": [*arrays(off_zero), sample(ints(3, low=-3))],
    "threshold_backward": with_gradient(0.0),
    "relu_backward": with_gradient(),
    "threshold": [*(sample(*s.args, 0.3, 7.0) for s in arrays(off_zero)), sample(ints(3, low=-3), 1, 0)],
    "rrelu_with_noise": [sample(off_zero(2, 3), positive(2, 3))],
    "leaky_relu": [*arrays(off_zero), sample(off_zero(2, 3), 0.3)],
    "leaky_relu_backward": with_gradient(0.3),
    "hardtanh": [*arrays(wide), sample(wide(3, 4), -0.5, 2.25), sample(ints(5, low=-5), -2, 2)],
    "hardtanh_backward": with_wide_gradient(-0.5, 2.25),
    "elu": [*arrays(off_zero), sample(off_zero(2, 3), 1.5, 1.1, 0.5)],
    "elu_backward": with_gradient(1.5, 1.1, 0.5),
    "prelu": PRELU,
    "prelu_kernel": [sample(off_zero(2, 3), x(3)), sample(off_zero(), x())],
    "silu": arrays(),
    "silu_backward": with_gradient(),
    "mish": arrays(),
    "mish_backward": with_gradient(),
    "softplus": [*arrays(), sample(wide(3, 4), 2, 3.0)],
    "softplus_backward": with_wide_gradient(2.0, 3.0),
    "log_sigmoid": arrays(),
    "log_sigmoid_backward": with_gradient(),
    "hardsigmoid": arrays(wide),
    "hardsigmoid_backward": with_wide_gradient(),
    "hardswish": arrays(wide),
    "hardswish_backward": with_wide_gradient(),
    "gelu": [*arrays(), *(sample(*s.args, approximate="tanh") for s in arrays())],
    "gelu_backward": [*with_gradient("none"), *with_gradient("tanh")],
    "shrink_backward": with_wide_gradient(0.5),
    "hardshrink": arrays(wide),
    "softshrink": [*arrays(wide), sample(wide(3), 1.0)],
}
