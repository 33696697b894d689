"""Samples for teachtorch/ops/picking.py."""

import numpy as np

from tests.samples import ints, sample, x


def index(*values):
    return np.array(values, np.int64)


SAMPLES = {
    "index_select": [
        sample(x(4, 3), 0, index(2, 0, 2)),
        sample(x(4, 3), -1, index(2)),
        sample(x(4, 3).T, 1, index(0, 3)),
        sample(x(), 0, index(0)),
        sample(x(0, 3), 1, index(0, 1)),
        sample(x(4, 3), 1, np.array(1)),
    ],
    "index_add": [
        sample(x(4, 3), 0, index(2, 0, 2), x(3, 3)),
        sample(x(4, 3), 1, index(0, 2), x(4, 2), alpha=-2.5),
        sample(x(3, 4).T, 0, index(1, 1), x(2, 3)),
        sample(x(), 0, index(0), x()),
        sample(x(4), 0, index(1), x()),
    ],
    "index_copy": [
        sample(x(4, 3), 0, index(2, 0), x(2, 3)),
        sample(x(4, 3), 1, index(1), x(4, 1)),
        sample(x(3, 4).T, 1, index(0, 2), x(4, 2)),
        sample(x(4), 0, index(1), x()),
    ],
    "index_fill": [
        sample(x(4, 3), 0, index(2, 0), 1.5),
        sample(x(4, 3), 1, index(-1, -1), x()),
        sample(x(3, 4).T, 1, index(0, 2), 2),
        sample(x(), 0, index(0), 3.0),
    ],
    "take": [
        sample(x(4, 3), index(0, 11, -1, 0)),
        sample(x(4, 3), ints(2, 2)),
        sample(x(3, 4).T, index(1, 5)),
        sample(x(), index(0, 0)),
        sample(x(0), index()),
    ],
    "put": [
        sample(x(4, 3), index(0, 11), x(2)),
        sample(x(4, 3), index(0, -1, 0), x(3), True),
        sample(x(3, 4).T, ints(2, 2), x(2, 2), True),
        sample(x(3, 4).T, index(1, 5), x(2)),
    ],
}
