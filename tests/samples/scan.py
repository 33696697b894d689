"""Sample arguments for teachtorch/ops/scan.py."""
import numpy as np

from tests.samples import apart, bools, ints, sample, x

ALONG = [sample(x(3, 4), 0), sample(x(2, 3, 4), -1), sample(x(), 0), sample(x(0, 3), 0), sample(x(3, 0), 0),
         sample(x(4, 5, 3).transpose(2, 0, 1), 1), sample(x(1, 3), 0)]
EXTREMA = [sample(apart(3, 4), 0), sample(apart(2, 3, 4), -1), sample(x(), 0), sample(x(0, 3), 1),
           sample(apart(4, 5, 3).transpose(2, 0, 1), 1), sample(ints(3, 4), 1), sample(bools(3, 4), 1)]

SAMPLES = {
    "cumsum": ALONG + [sample(ints(3, 4), 0), sample(bools(3, 4), 1)],
    "cumprod": ALONG + [sample(ints(3, 4), 0), sample(np.array([2.0, 0.0, 3.0, -1.0]), 0),
                        sample(np.array([[0.0, 1.5, 0.0, 2.0], [1.0, 2.0, -1.0, 0.0]]), 1)],
    "_linear_recurrence": [sample(x(4), x(4, seed=1), 0), sample(x(2, 3), x(2, 3, seed=1), 1)],
    "cummax": EXTREMA, "cummin": EXTREMA,
    "logcumsumexp": ALONG + [sample(np.array([1000.0, 1000.0, 999.0]), 0)],
}
