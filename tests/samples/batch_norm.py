"""Sample arguments for teachtorch/ops/: batch_norm.py and group_norm.py."""

import numpy as np

from tests.samples import positive, sample, x

MEAN, VARIANCE = np.array([0.5, -0.25, 1.0], np.float32).astype(np.float64), positive(3)

SAMPLES = {
    "native_batch_norm": [
        sample(x(4, 3), x(3), x(3, seed=1), None, None, True, 0.1, 1e-5),
        sample(x(2, 3, 2, 2), None, None, None, None, True, 0.1, 1e-3),
        sample(x(2, 3, 4), x(3), None, MEAN, VARIANCE, False, 0.1, 1e-5, gradient=False),
        sample(x(0, 3, 2), x(3), x(3), None, None, True, 0.1, 1e-5, gradient=False),
    ],
    "native_batch_norm_backward": [
        sample(x(4, 3, 2), x(4, 3, 2, seed=1), x(3), x(3, seed=1), positive(3), True),
        sample(x(4, 3), x(4, 3, seed=1), None, x(3, seed=1), positive(3), False),
    ],
    "native_group_norm": [
        sample(x(2, 4, 3), x(4), x(4, seed=1), 2, 4, 3, 2, 1e-5),
        sample(x(2, 4, 3, 2), None, x(4), 2, 4, 6, 4, 1e-3),
        sample(x(3, 2), None, None, 3, 2, 1, 1, 1e-5),
    ],
    "native_group_norm_backward": [
        sample(x(2, 4, 3), x(2, 4, 3, seed=1), x(4), x(2, 2), positive(2, 2), 2, 4, 3, 2)
    ],
}
