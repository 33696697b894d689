"""Samples for teachtorch/ops/scatter.py."""

import numpy as np

from tests.samples import apart, ints, sample, x


def table(*rows):
    return np.array(rows, np.int64)


ROWS = table([0, 2, 1], [1, 1, 0])  # (2, 3), along dimension 0 of (3, 3), with a repeat
UNIQUE = table([0, 2, 1], [1, 0, 2])

WRITES = [
    sample(x(3, 3), 0, UNIQUE, x(2, 3)),
    sample(x(3, 4), 1, table([3, 0], [1, 2]), x(2, 2)),
    sample(x(4, 3).T, 0, table([0, 2]), x(1, 2)),
    sample(x(3), 0, np.array([2, 0]), x(2)),
    sample(x(), 0, np.array(0), x()),
    sample(x(3, 3), 0, table([0, 1]), x(2, 3)),
    sample(x(3, 3), 0, np.zeros((0, 3), np.int64), x(2, 3)),
]
ADDS = [*WRITES, sample(x(3, 3), 0, ROWS, x(2, 3)), sample(x(3, 3), 0, ROWS, x(3, 4))]
REDUCES = ("sum", "prod", "mean", "amax", "amin")

SAMPLES = {
    "gather": [
        sample(x(3, 3), 0, ROWS),
        sample(x(3, 4), 1, ints(2, 7, high=4)),
        sample(x(4, 3).T, -1, ints(3, 2, high=4)),
        sample(x(), 0, np.array(0)),
        sample(x(3), 0, ints(5, high=3)),
        sample(x(), 0, np.array([0, 0])),
        sample(x(3, 4), 0, np.zeros((0, 4), np.int64)),
        sample(x(2, 3, 4), 1, ints(1, 5, 2, high=3)),
    ],
    "take_along_dim": [
        sample(x(3, 4), ints(3, 2, high=4), 1),
        sample(x(3, 4), ints(1, 2, high=4), 1),
        sample(x(3, 4), ints(5)),
        sample(x(3, 4), -1 - ints(3, 1, high=4), -1),
    ],
    "scatter_src": WRITES,
    "scatter_value": [
        sample(x(3, 3), 0, ROWS, 1.5),
        sample(x(4, 3).T, 0, table([0, 2]), 2),
        sample(x(), 0, np.array(0), 1),
    ],
    "scatter_with": [
        sample(x(3, 3), 0, ROWS, x(2, 3), "add", gradient=False),
        sample(x(3, 3), 0, ROWS, 2.0, "multiply", gradient=False),
    ],
    "scatter_add": ADDS,
    "scatter_reduce": [
        sample(apart(3, 3), 0, ROWS, apart(2, 3, seed=1, gap=0.17), kind, include_self=include)
        for kind in REDUCES
        for include in (True, False)
    ]
    + [sample(apart(3, 3), 0, ROWS, apart(3, 4, seed=1, gap=0.17), kind) for kind in REDUCES]
    + [sample(apart(4, 3).T, 1, ints(3, 2, high=4), apart(3, 2, seed=1, gap=0.17), "amax")],
    "index_reduce": [
        sample(apart(3, 3), 0, np.array([0, 2, 0]), apart(3, 3, seed=1, gap=0.17), kind, include_self=include)
        for kind in REDUCES[1:]
        for include in (True, False)
    ],
    "select_scatter": [sample(x(3, 4), x(4), 0, 1), sample(x(4, 3).T, x(3), 1, -1)],
    "slice_scatter": [
        sample(x(3, 4), x(3, 2), 1, 1, None, 2),
        sample(x(4, 3).T, x(2, 4), 0, 0, 2),
        sample(x(3), x(3)),
    ],
    "diagonal_scatter": [
        sample(x(3, 4), x(3)),
        sample(x(3, 4), x(2), -1),
        sample(x(2, 3, 4), x(3, 2), 0, 0, 2),
    ],
}
