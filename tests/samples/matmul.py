"""Samples of ops/matmul.py."""
import numpy as np

from tests.samples import sample, x

SAMPLES = {
    "mm": [sample(x(3, 4), x(4, 2)), sample(x(4, 3).T, x(4, 2)), sample(x(0, 4), x(4, 2)),
           sample(x(3, 0), x(0, 2)),
           sample(x(3, 4), x(2, 4).T)],
    "mv": [sample(x(3, 4), x(4)), sample(x(0, 4), x(4)), sample(x(3, 0), x(0)), sample(x(4, 3).T, x(4))],
    "dot": [sample(x(4), x(4, seed=1)), sample(x(0), x(0)), sample(x(8)[::2], x(4))],
    "vdot": [sample(x(4), x(4, seed=1))],
    "bmm": [sample(x(2, 3, 4), x(2, 4, 5)), sample(x(0, 3, 4), x(0, 4, 5)), sample(x(2, 3, 0), x(2, 0, 5)),
            sample(np.swapaxes(x(2, 4, 3), 1, 2), x(2, 4, 5))],
    "addmm": [sample(x(3, 2), x(3, 4), x(4, 2)), sample(x(2), x(3, 4), x(4, 2)),
              sample(x(), x(3, 4), x(4, 2)),
              sample(x(3, 1), x(3, 4), x(4, 2), beta=0.5, alpha=2), sample(x(2), x(3, 0), x(0, 2))],
    "addmv": [sample(x(), x(3, 4), x(4)), sample(x(2), x(2, 0), x(0)), sample(x(3), x(3, 4), x(4)),
              sample(x(3), x(3, 4), x(4), beta=2, alpha=0.5)],
    "baddbmm": [sample(x(2, 3, 5), x(2, 3, 4), x(2, 4, 5)),
                sample(x(5), x(2, 3, 4), x(2, 4, 5), beta=2, alpha=3)],
    "addr": [sample(x(3, 4), x(3), x(4)), sample(x(3, 4), x(3), x(4), beta=2, alpha=0.5)],
    "addbmm": [sample(x(3, 5), x(2, 3, 4), x(2, 4, 5)), sample(x(3, 5), x(2, 3, 4), x(2, 4, 5), beta=2,
                                                               alpha=3)],
    "matmul": [sample(x(3, 4), x(4, 2)), sample(x(4), x(4, seed=1)), sample(x(3, 4), x(4)),
               sample(x(4), x(4, 2)),
               sample(x(2, 3, 4), x(4, 2)), sample(x(2, 3, 4), x(4)), sample(x(4), x(2, 4, 3)),
               sample(x(3, 4), x(2, 4, 3)), sample(x(5, 1, 3, 4), x(2, 4, 2)), sample(x(0, 3, 4), x(4, 2)),
               sample(x(0, 3, 4), x(0, 4, 2)), sample(x(0, 2, 0), x(0, 0, 3)),
               sample(x(2, 0, 3), x(3))],
    "outer": [sample(x(3), x(4)), sample(x(0), x(4))],
    "inner": [sample(x(3, 4), x(2, 4)), sample(x(4), x(4, seed=1)), sample(x(), x(4)),
              sample(x(2, 3, 4), x(5, 4))],
    "linear": [sample(x(5, 4), x(3, 4), x(3)), sample(x(2, 5, 4), x(3, 4), x(3)), sample(x(5, 4), x(3, 4)),
               sample(x(4), x(3, 4), x(3)), sample(x(5, 4), x(4))],
}
