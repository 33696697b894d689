"""Samples for teachtorch/ops/elementary.py and error_gamma.py."""
import numpy as np

from tests.samples import bools, ints, positive, sample, x


def arrays(make=x):
    """One operand: a matrix, 0-dim, empty, transposed, a column of a larger one."""
    return [
        sample(make(3, 4)),
        sample(make()),
        sample(make(0, 3)),
        sample(make(4, 3).T),
        sample(make(3, 4)[:, ::2]),
    ]


def with_whole_numbers(make=x):
    return [*arrays(make), sample(ints(2, 3, low=1))]


def between(low, high):
    return lambda *shape, seed=0: x(*shape, seed=seed, low=low, high=high)


def off_whole(*shape, seed=0):
    """Values with a part after the point from 0.2 to 0.4."""
    return np.asarray(ints(*shape, low=-4, high=4, seed=seed) + x(*shape, seed=seed, low=0.2, high=0.4))


def off_zero(*shape, seed=0):
    return np.asarray(np.copysign(positive(*shape, seed=seed), x(*shape, seed=seed)))


INSIDE = between(-0.9, 0.9)
UNIT = between(0.1, 0.9)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 1.5, -0.0])
PREDICATE = [*arrays(), sample(SPECIAL), sample(ints(2, 3)), sample(bools(3))]
PASSED_ON = [*arrays(), sample(ints(2, 3))]

SAMPLES = {
    "neg": with_whole_numbers(),
    "positive": PASSED_ON,
    "real": PASSED_ON,
    "conj_physical": PASSED_ON,
    "abs": with_whole_numbers(off_zero),
    "sign": [*with_whole_numbers(off_zero), sample(bools(3))],
    "sgn": [*with_whole_numbers(off_zero), sample(bools(3))],
    "signbit": PREDICATE,
    "floor": with_whole_numbers(off_whole),
    "ceil": with_whole_numbers(off_whole),
    "trunc": with_whole_numbers(off_whole),
    "frac": arrays(off_whole),
    "frexp": [sample(x(2, 3)), sample(positive(3))],
    "round": with_whole_numbers(off_whole),
    "round_decimals": [sample(off_whole(2, 3) / 10, 10.0, 1.0), sample(off_whole(3) * 10, 1.0, 10.0)],
    "square": with_whole_numbers(),
    "sqrt": with_whole_numbers(positive),
    "rsqrt": with_whole_numbers(positive),
    "reciprocal": with_whole_numbers(off_zero),
    "exp": with_whole_numbers(),
    "exp2": with_whole_numbers(),
    "expm1": with_whole_numbers(),
    "log": with_whole_numbers(positive),
    "log2": with_whole_numbers(positive),
    "log10": with_whole_numbers(positive),
    "log1p": with_whole_numbers(positive),
    "sigmoid": with_whole_numbers(),
    "sigmoid_backward": [sample(x(2, 3), UNIT(2, 3)), sample(x(), UNIT())],
    "logit": [*arrays(UNIT), sample(UNIT(2, 3), 0.05), sample(np.array([-0.5, 0.3, 1.5]), eps=0.1)],
    "sin": with_whole_numbers(),
    "cos": with_whole_numbers(),
    "tan": with_whole_numbers(INSIDE),
    "asin": arrays(INSIDE),
    "acos": arrays(INSIDE),
    "atan": with_whole_numbers(),
    "sinh": with_whole_numbers(),
    "cosh": with_whole_numbers(),
    "tanh": with_whole_numbers(),
    "tanh_backward": [sample(x(2, 3), INSIDE(2, 3)), sample(x(), INSIDE())],
    "asinh": with_whole_numbers(),
    "acosh": with_whole_numbers(between(1.2, 3)),
    "atanh": arrays(INSIDE),
    "sinc": with_whole_numbers(off_zero),
    "deg2rad": with_whole_numbers(),
    "rad2deg": with_whole_numbers(),
    "angle": with_whole_numbers(off_zero),
    "erf": with_whole_numbers(),
    "erfc": with_whole_numbers(),
    "erfinv": arrays(INSIDE),
    "lgamma": with_whole_numbers(positive),
    "digamma": with_whole_numbers(positive),
    "trigamma": with_whole_numbers(positive),
    "higher_polygamma": [sample(positive(2, 3), 2), sample(positive(), 3), sample(positive(0, 3), 2)],
    "i0": with_whole_numbers(),
    "special_i1": with_whole_numbers(off_zero),
    "nan_to_num": [
        *with_whole_numbers(),
        sample(SPECIAL, 1.0, 2.0, 3.0, gradient=False),
        sample(SPECIAL, gradient=False),
    ],
    "isnan": PREDICATE,
    "isinf": PREDICATE,
    "isfinite": PREDICATE,
    "isposinf": PREDICATE,
    "isneginf": PREDICATE,
    "isreal": PREDICATE,
}
