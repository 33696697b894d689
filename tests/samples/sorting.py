"""Sample arguments for teachtorch/ops/sorting.py."""
import numpy as np

from tests.samples import apart, bools, ints, sample, x

ORDERS = [sample(apart(5)), sample(apart(3, 4), 0), sample(apart(2, 3, 4), -1, True), sample(x()),
          sample(x(0, 3), 1),
          sample(apart(4, 5, 3).transpose(2, 0, 1), 1), sample(ints(3, 4), 1, stable=True), sample(bools(6))]
BOUNDARIES = np.sort(apart(6))

SAMPLES = {
    "sort": ORDERS, "argsort": ORDERS,
    "msort": [sample(apart(5, 2)), sample(x()), sample(ints(4))],
    "topk": [sample(apart(5), 2), sample(apart(3, 4), 2, 0), sample(apart(3, 40), 3, 1, False),
             sample(x(), 1),
             sample(apart(4, 5, 3).transpose(2, 0, 1), 2, 1), sample(ints(3, 4), 0), sample(apart(40), 4)],
    "searchsorted": [sample(BOUNDARIES, x(3, 4), gradient=False), sample(BOUNDARIES, 0.1),
                     sample(np.sort(apart(2, 5), 1), x(2, 3), right=True, gradient=False),
                     sample(BOUNDARIES, x(), out_int32=True, gradient=False),
                     sample(apart(6), x(3), sorter=np.argsort(apart(6)), gradient=False)],
    "unique": [sample(ints(20)), sample(ints(3, 4), True, True, True), sample(ints(6, 2, high=2), dim=0),
               sample(x(3), gradient=False)],
    "unique_consecutive": [sample(ints(20, high=2)), sample(ints(3, 4, high=2), True, True),
                           sample(ints(8, 1, high=2), dim=0, return_counts=True)],
}
