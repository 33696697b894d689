"""Sample arguments for teachtorch/ops/loss_ranking.py and loss_margin.py and loss_ctc.py. Weights and targets are float32 or
integers, since they have no derivative."""

import numpy as np

from tests.samples import ints, sample, x

REDUCTIONS = ("none", "mean", "sum")
ROWS, COLUMNS = x(4, 5), x(5, 4).T
SIGNS = np.where(ints(4, 5, high=2) > 0, 1, -1).astype(np.float32)
LABELS = np.array([[0, 1, -1, 2, 3], [2, 2, 4, -1, -1], [-1, 0, 0, 0, 0], [0, 1, 2, 3, 4]])
LOG_PROBS = np.log(np.full((6, 2, 4), 0.25)) + 0.1 * x(6, 2, 4)
TARGETS, STEPS, COUNTS = np.array([[1, 2, 2], [3, 1, 0]]), np.array([6, 4]), np.array([3, 2])

SAMPLES = {
    "soft_margin_loss": [sample(a, SIGNS, r) for r in REDUCTIONS for a in (ROWS, COLUMNS)]
    + [sample(x(), np.array(1, np.float32), "none"), sample(x(0, 3), SIGNS[:0, :3], "sum")],
    "multi_margin_loss": [
        sample(a, ints(4), p, 0.7, None, r) for r in REDUCTIONS for p in (1, 2) for a in (ROWS, COLUMNS)
    ]
    + [sample(x(5), ints(), 1, 1.0, None, "none"), sample(x(5), ints(1), 2, 1.0, None, "none")],
    "multilabel_margin_loss": [sample(a, LABELS, r) for r in REDUCTIONS for a in (ROWS, COLUMNS)]
    + [sample(x(5), LABELS[0], "none")],
    "ctc_loss": [
        sample(LOG_PROBS, TARGETS, STEPS, COUNTS, 0, zero, gradient=False) for zero in (False, True)
    ],
    "_ctc_loss_backward": [
        sample(x(2), LOG_PROBS, TARGETS, STEPS, COUNTS, 0, x(2, seed=1), x(2, 6, 7), False, gradient=False)
    ],
}
