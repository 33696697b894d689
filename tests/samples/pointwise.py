"""Samples for teachtorch/ops/pointwise.py."""
import numpy as np

from tests.samples import apart, ints, positive, sample, x


def pairs(first=x, second=x):
    """Two operands: of one shape, broadcast, 0-dim, empty, transposed; and a number on the right."""
    return [
        sample(first(3, 4), second(3, 4, seed=1)),
        sample(first(3, 1), second(4, seed=1)),
        sample(first(), second(seed=1)),
        sample(first(2, 3), second(seed=1)),
        sample(first(0, 3), second(3, seed=1)),
        sample(first(4, 3).T, second(3, 4, seed=1)),
        sample(first(2, 3), 1.5),
    ]


def tensor_pairs(first=x, second=x):
    return pairs(first, second)[:-1]


def whole(*shape, seed=0):
    """An int64 array without 0."""
    return ints(*shape, low=1, high=9, seed=seed)


def halves(*shape, seed=0):
    """Multiples of 1/2 plus 0.2: quotients by small whole numbers stay away from whole numbers."""
    return np.asarray(ints(*shape, low=-9, high=9, seed=seed) / 2 + 0.2)


def small(*shape, seed=0):
    """Exponents from -2 to 3."""
    return x(*shape, seed=seed, low=-2, high=3)


DIVISION = [
    *pairs(halves, positive),
    sample(whole(2, 3), whole(3, seed=1)),
    sample(whole(2, 3), 4),
    sample(5, whole(3)),
]
THREE = [
    (x(2, 3), x(2, 3, seed=1), positive(2, 3)),
    (x(2, 3), x(3, seed=1), positive(2, 1)),
    (x(), x(seed=1), positive()),
    (x(0, 3), x(3, seed=1), positive(3)),
    (x(3, 2).T, x(3, 2, seed=1).T, positive(3, 2).T),
]
BOUNDS = [
    sample(apart(3, 4), -0.33, 0.33),
    sample(apart(3, 4), None, 0.31),
    sample(apart(3, 4), min=-0.31),
    sample(apart(4, 3).T, -0.31, 0.31),
    sample(apart(), -1.0, 1.0),
    sample(apart(0, 3), 0.0, 1.0),
    sample(ints(3, 4), 1, 3),
    sample(apart(2, 3, gap=1), x(3, low=-1, high=0), x(2, 1, low=0.1, high=1)),
    sample(apart(2, 3, gap=1), x(3), None),
    sample(apart(2, 3, gap=1), None, x(2, 3)),
]
WEIGHTED = [sample(x(2, 3), x(2, 3, seed=1), w) for w in (0.25, 0.75, 1.5, -2.0)]

SAMPLES = {
    "add": [
        *pairs(),
        sample(x(2, 3), x(3), alpha=2.5),
        sample(ints(2, 3), 2),
        sample(2.0, x(3)),
        sample(ints(2, 3), ints(3), alpha=3),
    ],
    "sub": [
        *pairs(),
        sample(x(2, 3), x(3), alpha=2.5),
        sample(ints(2, 3), 2),
        sample(2.0, x(3)),
        sample(ints(2, 3), ints(3), alpha=3),
    ],
    "rsub": [*pairs(), sample(x(2, 3), x(3), alpha=2.5), sample(ints(2, 3), 2)],
    "mul": [*pairs(), sample(ints(2, 3), 2), sample(2.0, x(3))],
    "div": [*pairs(x, positive), sample(ints(2, 3), 2), sample(2.0, positive(3))],
    "floor_divide": [sample(*s.args, gradient=False) for s in DIVISION],
    "div_trunc": DIVISION,
    "div_floor": DIVISION,
    "remainder": DIVISION,
    "fmod": DIVISION[:-1],  # refuses a number on the left
    "pow": [
        *pairs(positive, small),
        sample(positive(2, 3), small(2, 3)),
        sample(2.5, small(2, 3)),
        sample(x(2, 3), 2),
        sample(x(2, 3), 3),
        sample(positive(2, 3), 0.5),
        sample(positive(2, 3), -1),
        sample(x(2, 3), 0),
        sample(x(2, 3), 1),
        sample(ints(2, 3), 2),
        sample(ints(2, 3, low=-3), ints(2, 3, low=-2, seed=1)),
    ],
    "float_power": [*pairs(positive, small), sample(ints(2, 3), 2)],
    "ldexp": [
        sample(x(2, 3), ints(2, 3)),
        sample(x(), ints()),
        sample(x(0, 3), ints(3)),
        sample(x(3, 2).T, ints(3)),
    ],
    "maximum": tensor_pairs(),
    "minimum": tensor_pairs(),
    "fmax": tensor_pairs(),
    "fmin": tensor_pairs(),
    "clamp": BOUNDS,
    "clamp_min": [
        sample(apart(3, 4), 0.31),
        sample(apart(4, 3).T, -0.31),
        sample(apart(), -1.0),
        sample(apart(0, 3), 0.0),
        sample(apart(2, 3, gap=1), x(3)),
    ],
    "clamp_max": [
        sample(apart(3, 4), 0.31),
        sample(apart(4, 3).T, -0.31),
        sample(apart(), -1.0),
        sample(apart(0, 3), 0.0),
        sample(apart(2, 3, gap=1), x(3)),
    ],
    "clamp_backward": [sample(x(3, 4), apart(3, 4), -0.31, 0.31), sample(x(), apart(), -1.0, 1.0)],
    "lerp": [*WEIGHTED, *(sample(*three) for three in THREE)],
    "addcmul": [sample(*three) for three in THREE]
    + [sample(*THREE[1], value=2.5), sample(ints(2), ints(2), ints(2), value=2)],
    "addcdiv": [sample(*three) for three in THREE] + [sample(*THREE[1], value=2.5)],
    "xlogy": [*pairs(x, positive), sample(2.0, positive(3)), sample(ints(2, 3), positive(3))],
    "logaddexp": tensor_pairs(),
    "logaddexp2": tensor_pairs(),
    "atan2": tensor_pairs(),
    "hypot": tensor_pairs(),
    "copysign": [*pairs(), sample(ints(2, 3), -1)],
    "nextafter": [sample(*s.args, gradient=False) for s in tensor_pairs()],
    "heaviside": [sample(*s.args, gradient=False) for s in tensor_pairs()],
    "gcd": [
        sample(whole(3, 4), whole(4, seed=1)),
        sample(whole(), whole(seed=1)),
        sample(whole(0, 3), whole(3)),
        sample(whole(4, 3).T, whole(4, 3, seed=1).T),
        sample(ints(3, low=-9), ints(3)),
    ],
    "lcm": [
        sample(whole(3, 4), whole(4, seed=1)),
        sample(whole(), whole(seed=1)),
        sample(whole(0, 3), whole(3)),
        sample(whole(4, 3).T, whole(4, 3, seed=1).T),
        sample(ints(3, low=-9), ints(3)),
    ],
}
