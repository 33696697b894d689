"""Samples for teachtorch/ops/indexing.py."""

import numpy as np

from tests.samples import ints, sample, x


def index(*values):
    return np.array(values, np.int64)


SAMPLES = {
    "index": [
        sample(x(4, 3), [index(0, 2, 0)]),
        sample(x(4, 3), [None, index(1, -1)]),
        sample(x(3, 4, 2), [index(0, 1), None, index(1, 0)]),
        sample(x(3, 4, 2), [ints(2, 1, high=3), index(3, 0, 3)]),
        sample(x(4, 3).T, [index(2, 1)]),
        sample(x(4, 3), [index()]),
        sample(x(0, 3), [None, index(1)]),
    ],
    "index_backward": [
        sample(x(3, 3), (4, 3), [index(0, 2, 0)]),
        sample(x(2, 4), (3, 4, 2), [index(0, 0), None, index(1, 1)]),
    ],
    "index_put": [
        sample(x(4, 3), [index(0, 2)], x(2, 3)),
        sample(x(4, 3), [index(0, 2)], x(1)),
        sample(x(4, 3), [index(0, 2, 0)], x(3, 3), True),
        sample(x(4, 3), [None, index(1, 2)], x(2)),
        sample(x(3, 4).T, [index(0, 2, 0), index(0, 1, 0)], x(3), True),
    ],
    "select_backward": [sample(x(3), (2, 3), 0, 1), sample(x(2), (2, 3), -1, -1)],
    "slice_backward": [sample(x(2, 3), (4, 3), 0, 1, 3, 1), sample(x(4, 2), (4, 3), 1, None, None, 2)],
}
