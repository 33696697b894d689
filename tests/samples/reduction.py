"""Sample arguments for reduction.py, extrema.py and vector_norm.py of teachtorch/ops."""
import math

import numpy as np

from tests.samples import apart, bools, ints, positive, sample, x

TRANSPOSED = apart(4, 5, 6).transpose(2, 0, 1)
WITH_NAN = np.array([[1.0, math.nan, 3.0], [-0.5, 2.0, math.nan]])

TOTALS = [sample(x(3, 4)), sample(x()), sample(x(0, 3)), sample(x(4, 5, 6).transpose(2, 0, 1)),
          sample(ints(3, 4)),
          sample(bools(5))]
ALONG = [sample(x(3, 4), 0), sample(x(2, 3, 4), -1, True), sample(x(2, 3, 4), 1), sample(x(), 0),
         sample(x(0, 3), 0), sample(x(3, 0), 0), sample(x(4, 5, 6).transpose(2, 0, 1), 1)]
OVER_SEVERAL = [sample(x(2, 3, 4), (0, 2)), sample(x(2, 3, 4), (-1, 0), True), sample(x(2, 3), ()),
                sample(x(2, 3))]
FULL_EXTREMUM = [sample(apart(3, 4)), sample(x()), sample(TRANSPOSED), sample(ints(4)), sample(bools(3))]
EXTREMUM_ALONG = [sample(apart(3, 4), 0), sample(apart(2, 3, 4), -1, True), sample(x(), 0),
                  sample(x(0, 3), 1),
                  sample(TRANSPOSED, 1), sample(ints(2, 3), 0)]
EXTREMA = [sample(apart(3, 4)), sample(apart(3, 4), 0, True), sample(apart(2, 3, 4), (0, 2)), sample(x()),
           sample(x(), -1),
           sample(TRANSPOSED, (0, 1)), sample(x(0, 3), 1)]
TRUTH = [sample(bools(3, 4)), sample(ints(3, 4), 0), sample(x(2, 3, 4), (0, 2), True),
         sample(bools(2, 3), ()),
         sample(ints(3, 4).astype(np.uint8), 1), sample(x()), sample(x(0, 3), 0)]

SAMPLES = {
    "sum": TOTALS,
    "sum_dim": ALONG + OVER_SEVERAL + [sample(ints(3, 4), 0), sample(bools(3, 4), (0, 1))],
    "mean": TOTALS[:2] + TOTALS[3:4] + [sample(x(0, 3), gradient=False)],
    "mean_dim": ALONG[:4] + ALONG[5:] + OVER_SEVERAL,
    "prod": TOTALS + [sample(np.array([2.0, 0.0, 3.0])), sample(np.array([[0.0, 0.0], [1.0, 2.0]]))],
    "prod_dim": ALONG + [sample(np.array([[2.0, 0.0, 3.0], [0.0, 1.0, 0.0]]), 1)],
    "_same_value": [sample(x(3, 4), x(4), gradient=False), sample(WITH_NAN, WITH_NAN.copy(), gradient=False)],
    "value_selecting_reduction_backward": [
        sample(x(3, 1), 1, ints(3, 1, high=4), (3, 4)), sample(x(1, 4), 0, ints(1, 4, high=3), (3, 4)),
        sample(x(), 0, ints(low=0, high=1), ()), sample(x(2, 0), 1, ints(2, 0), (2, 0))],
    "max": FULL_EXTREMUM, "min": FULL_EXTREMUM,
    "max_dim": EXTREMUM_ALONG, "min_dim": EXTREMUM_ALONG,
    "amax": EXTREMA, "amin": EXTREMA,
    "aminmax": [sample(apart(3, 4)), sample(apart(3, 4), dim=1), sample(apart(2, 3), dim=0, keepdim=True),
                sample(x()),
                sample(TRANSPOSED, dim=1)],
    "argmax": FULL_EXTREMUM[:4] + EXTREMUM_ALONG + [sample(x(2, 3), None, True)],
    "argmin": FULL_EXTREMUM[:4] + EXTREMUM_ALONG + [sample(x(2, 3), None, True)],
    "all": TRUTH, "any": TRUTH,
    "count_nonzero": [sample(ints(3, 4)), sample(ints(3, 4), 0), sample(x(2, 3, 4), (0, -1)), sample(x()),
                      sample(x(0, 3), 0)],
    "logsumexp": ALONG[:4] + ALONG[5:] + OVER_SEVERAL[:2] + [sample(ints(2, 3), 0),
                                                             sample(np.array([1000.0, 1000.0]), 0)],
    "nansum": OVER_SEVERAL + [sample(WITH_NAN, gradient=False), sample(WITH_NAN, 0, gradient=False),
                              sample(ints(2, 3))],
    "linalg.vector_norm": [sample(positive(3, 4), order, dim) for order in (2, 0, 1, 3, 1.5, 0.5, -2)
                           for dim in (None, 0)] +
                          [sample(apart(3, 4), math.inf, 1, True), sample(apart(3, 4), -math.inf),
                           sample(x()),
                           sample(x(0, 3), 2), sample(x(2, 3, 4), 2, (0, 2)), sample(np.zeros(3), 2,
                                                                                     gradient=False)],
}
