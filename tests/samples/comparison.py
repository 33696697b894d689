"""Samples for teachtorch/ops/comparison.py."""
import numpy as np

from tests.samples import bools, ints, sample, x
from tests.samples.pointwise import pairs, tensor_pairs, whole

COMPARED = [*pairs(), sample(ints(2, 3), ints(3, seed=1)), sample(bools(3), True), sample(ints(2, 3), 2.5)]
LOGIC = [*tensor_pairs(), sample(bools(2, 3), bools(3, seed=1)), sample(ints(2, 3), bools(3))]
BITS = [
    sample(ints(3, 4), ints(4, seed=1)),
    sample(bools(2, 3), bools(3, seed=1)),
    sample(ints(), ints(seed=1)),
    sample(ints(0, 3), 1),
    sample(ints(4, 3).T, ints(4, 3).T),
    sample(ints(3), 3),
    sample(3, ints(3)),
]
SHIFTS = [
    sample(whole(3, 4), ints(4)),
    sample(whole(), 2),
    sample(whole(0, 3), 1),
    sample(whole(4, 3).T, ints(4, 3).T),
    sample(whole(3), 70),
    sample(-whole(3), -1),
    sample(3, ints(3)),
]

SAMPLES = {
    "eq": COMPARED,
    "ne": COMPARED,
    "lt": COMPARED,
    "le": COMPARED,
    "gt": COMPARED,
    "ge": COMPARED,
    "isclose": [
        sample(x(2, 3), x(2, 3) + 1e-9),
        sample(x(2, 3), x(3)),
        sample(x(), x(), 0.1, 0.1),
        sample(ints(3), ints(3)),
        sample(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), equal_nan=True),
        sample(x(0, 3), x(3)),
    ],
    "isin": [
        sample(ints(2, 3), ints(4)),
        sample(x(2, 3), x(2, 3)[0]),
        sample(ints(3), ints(2), invert=True),
        sample(2, ints(3)),
        sample(ints(3), 2),
        sample(ints(0, 3), ints(2)),
        sample(ints(3, 2).T, ints(2)),
    ],
    "logical_and": LOGIC,
    "logical_or": LOGIC,
    "logical_xor": LOGIC,
    "logical_not": [
        sample(x(2, 3)),
        sample(bools(2, 3)),
        sample(ints()),
        sample(ints(0, 3)),
        sample(ints(3, 2).T),
    ],
    "bitwise_and": BITS,
    "bitwise_or": BITS,
    "bitwise_xor": BITS,
    "bitwise_not": [
        sample(ints(2, 3)),
        sample(bools(2, 3)),
        sample(ints()),
        sample(ints(0, 3)),
        sample(ints(3, 2).T),
    ],
    "bitwise_left_shift": SHIFTS,
    "bitwise_right_shift": SHIFTS,
    "where": [
        sample(bools(2, 3), x(2, 3), x(2, 3, seed=1)),
        sample(bools(3), x(2, 1), x()),
        sample(bools(2, 3), x(2, 3), 0.5),
        sample(bools(), 1.0, x(2)),
        sample(bools(0, 3), x(3), 1),
        sample(bools(3, 2).T, x(3, 2).T, x(3, 2, seed=1).T),
        sample(bools(3), 1, 0),
        sample(bools(3), ints(3), 2.5),
    ],
}
