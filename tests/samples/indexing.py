"""Samples for teachtorch/ops/indexing.py."""
import numpy as np

from tests.samples import bools, ints, sample, x


def index(*values):
    return np.array(values, np.int64)


MASK = np.array([[True, False, True], [False, True, True]])

SAMPLES = {
    "index": [sample(x(4, 3), [index(0, 2, 0)]), sample(x(4, 3), [None, index(1, -1)]),
              sample(x(3, 4, 2), [index(0, 1), None, index(1, 0)]), sample(x(3, 4, 2), [ints(2, 1, high=3), index(3, 0, 3)]),
              sample(x(4, 3).T, [index(2, 1)]), sample(x(4, 3), [index()]), sample(x(0, 3), [None, index(1)])],
    "index_backward": [sample(x(3, 3), (4, 3), [index(0, 2, 0)]), sample(x(2, 4), (3, 4, 2), [index(0, 0), None, index(1, 1)])],
    "index_put": [sample(x(4, 3), [index(0, 2)], x(2, 3)), sample(x(4, 3), [index(0, 2)], x(1)),
                  sample(x(4, 3), [index(0, 2, 0)], x(3, 3), True), sample(x(4, 3), [None, index(1, 2)], x(2)),
                  sample(x(3, 4).T, [index(0, 2, 0), index(0, 1, 0)], x(3), True)],
    "index_select": [sample(x(4, 3), 0, index(2, 0, 2)), sample(x(4, 3), -1, index(2)), sample(x(4, 3).T, 1, index(0, 3)),
                     sample(x(), 0, index(0)), sample(x(0, 3), 1, index(0, 1)), sample(x(4, 3), 1, np.array(1))],
    "index_add": [sample(x(4, 3), 0, index(2, 0, 2), x(3, 3)), sample(x(4, 3), 1, index(0, 2), x(4, 2), alpha=-2.5),
                  sample(x(3, 4).T, 0, index(1, 1), x(2, 3)), sample(x(), 0, index(0), x()), sample(x(4), 0, index(1), x())],
    "index_copy": [sample(x(4, 3), 0, index(2, 0), x(2, 3)), sample(x(4, 3), 1, index(1), x(4, 1)),
                   sample(x(3, 4).T, 1, index(0, 2), x(4, 2)), sample(x(4), 0, index(1), x())],
    "index_fill": [sample(x(4, 3), 0, index(2, 0), 1.5), sample(x(4, 3), 1, index(-1, -1), x()),
                   sample(x(3, 4).T, 1, index(0, 2), 2), sample(x(), 0, index(0), 3.0)],
    "take": [sample(x(4, 3), index(0, 11, -1, 0)), sample(x(4, 3), ints(2, 2)), sample(x(3, 4).T, index(1, 5)),
             sample(x(), index(0, 0)), sample(x(0), index())],
    "put": [sample(x(4, 3), index(0, 11), x(2)), sample(x(4, 3), index(0, -1, 0), x(3), True),
            sample(x(3, 4).T, ints(2, 2), x(2, 2), True), sample(x(3, 4).T, index(1, 5), x(2))],
    "masked_fill": [sample(x(2, 3), MASK, 1.5), sample(x(2, 3), MASK, x()), sample(x(3), MASK, 2), sample(x(2, 3), MASK[0], 0),
                    sample(x(3, 2).T, MASK, -1.0), sample(x(), np.array(True), x()), sample(x(0, 3), bools(0, 3), 1)],
    "masked_select": [sample(x(2, 3), MASK), sample(x(2, 3), MASK[0]), sample(x(3), MASK), sample(x(), np.array(True)),
                      sample(x(3, 2).T, MASK), sample(x(2, 3), np.zeros((2, 3), bool))],
    "masked_scatter": [sample(x(2, 3), MASK, x(6)), sample(x(2, 3), MASK[0], x(2, 2)), sample(x(3), MASK, x(5)),
                       sample(x(3, 2).T, MASK, x(4))],
    "masked_scatter_backward": [sample(x(2, 3), MASK, (2, 4))],
    "nonzero": [sample(ints(3, 4, high=2)), sample(x(2)), sample(x()), sample(x(0, 3))],
    "argwhere": [sample(ints(3, 4, high=2))],
    "select_backward": [sample(x(3), (2, 3), 0, 1), sample(x(2), (2, 3), -1, -1)],
    "slice_backward": [sample(x(2, 3), (4, 3), 0, 1, 3, 1), sample(x(4, 2), (4, 3), 1, None, None, 2)],
}
