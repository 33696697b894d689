"""Samples for teachtorch/ops/masking.py."""

import numpy as np

from tests.samples import bools, ints, sample, x

MASK = np.array([[True, False, True], [False, True, True]])

SAMPLES = {
    "masked_fill": [
        sample(x(2, 3), MASK, 1.5),
        sample(x(2, 3), MASK, x()),
        sample(x(3), MASK, 2),
        sample(x(2, 3), MASK[0], 0),
        sample(x(3, 2).T, MASK, -1.0),
        sample(x(), np.array(True), x()),
        sample(x(0, 3), bools(0, 3), 1),
    ],
    "masked_select": [
        sample(x(2, 3), MASK),
        sample(x(2, 3), MASK[0]),
        sample(x(3), MASK),
        sample(x(), np.array(True)),
        sample(x(3, 2).T, MASK),
        sample(x(2, 3), np.zeros((2, 3), bool)),
    ],
    "masked_scatter": [
        sample(x(2, 3), MASK, x(6)),
        sample(x(2, 3), MASK[0], x(2, 2)),
        sample(x(3), MASK, x(5)),
        sample(x(3, 2).T, MASK, x(4)),
    ],
    "masked_scatter_backward": [sample(x(2, 3), MASK, (2, 4))],
    "nonzero": [sample(ints(3, 4, high=2)), sample(x(2)), sample(x()), sample(x(0, 3))],
    "argwhere": [sample(ints(3, 4, high=2))],
}
