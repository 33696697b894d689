"""Sample arguments for teachtorch/ops/: statistics.py, order_statistics.py and histograms.py."""
import math

import numpy as np

from tests.samples import apart, ints, sample, x

WITH_NAN = np.array([[1.0, math.nan, 3.0, 0.5], [-0.5, 2.0, math.nan, math.nan]])

SPREAD = [sample(x(3, 4)), sample(x(3, 4), 0), sample(x(2, 3, 4), (0, 2), 0, True),
          sample(x(2, 3, 4), -1, 1.5),
          sample(x(4, 5, 6).transpose(2, 0, 1), 1), sample(x(0, 3), 1)]
# The square root of a variance of 0 has no slope.
CONSTANT = [sample(np.ones((2, 3)), 1, gradient=False), sample(x(), None, 0, gradient=False)]
ORDERED = [sample(apart(3, 5), 1), sample(apart(2, 3, 4), 0), sample(apart(3, 4), -1, True), sample(x(), 0),
           sample(apart(4, 5, 6).transpose(2, 0, 1), 1), sample(ints(3, 4), 0), sample(x(0, 3), 1)]
NAMED_NAN = [sample(WITH_NAN, 1, gradient=False), sample(WITH_NAN, 0, True, gradient=False)]
MIDDLE = [sample(apart(3, 5)), sample(apart(2, 3, 4)), sample(x()), sample(ints(3, 4)),
          sample(WITH_NAN, gradient=False),
          sample(x(0, 3), gradient=False)]

SAMPLES = {
    "var": SPREAD + CONSTANT, "std": SPREAD + CONSTANT, "var_mean": SPREAD + CONSTANT, "std_mean": SPREAD
    + CONSTANT,
    "median": MIDDLE, "nanmedian": MIDDLE,
    "median_dim": ORDERED + NAMED_NAN, "nanmedian_dim": ORDERED + NAMED_NAN,
    "mode": ORDERED,
    "kthvalue": [sample(apart(3, 5), 2), sample(apart(3, 5), 3, 0, True), sample(x(), 1),
                 sample(ints(3, 4), 4),
                 sample(WITH_NAN, 4, gradient=False), sample(x(0, 3), 2, 1)],
    "bincount": [sample(ints(20)), sample(ints(5), None, 8), sample(ints(4), x(4), gradient=False),
                 sample(ints(0))],
    "histc": [sample(x(20), 5, gradient=False), sample(x(3, 4), 4, -1.0, 1.0, gradient=False),
              sample(np.ones(3), 3, gradient=False), sample(x(0), 3, gradient=False)],
}
