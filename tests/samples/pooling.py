"""Sample arguments for the pools of teachtorch/ops."""

import numpy as np

from tests.samples import apart, sample, x

IMAGE, VOLUME = apart(2, 3, 5, 6), apart(1, 2, 3, 4, 5)
PLACES = np.array([[[[1, 5], [14, 3]]]])

RANDOM = x(2, 3, 2, seed=3, low=0.0, high=1.0)

SAMPLES = {
    "fractional_max_pool2d": [
        sample(IMAGE, (2, 3), (3, 2), RANDOM),
        sample(IMAGE, (2, 2), (1, 5), RANDOM),
        sample(apart(3, 6, 5), (2, 2), (2, 3), RANDOM),
    ],
    "fractional_max_pool3d": [sample(VOLUME, (1, 2, 3), (2, 2, 2), x(1, 2, 3, low=0.0, high=1.0))],
    "max_pool2d_with_indices": [
        sample(IMAGE, 2),
        sample(IMAGE, (3, 2), (2, 1), 1, 1, True),
        sample(apart(3, 6, 5), 2, 1, 0, 2),
        sample(apart(0, 2, 4, 4), 2),
        sample(apart(6, 5, 2, 2).transpose(2, 3, 1, 0), 2),
    ],
    "max_pool3d_with_indices": [sample(VOLUME, 2), sample(VOLUME, (1, 2, 3), 2, (0, 1, 1), 1, True)],
    "max_pool2d_with_indices_backward": [sample(x(1, 1, 2, 2), x(1, 1, 4, 4), PLACES)],
    "max_pool3d_with_indices_backward": [sample(x(1, 1, 1, 2, 2), x(1, 1, 1, 4, 4), PLACES[:, None])],
    "adaptive_max_pool2d_backward": [sample(x(1, 1, 2, 2), x(1, 1, 4, 4), PLACES)],
    "adaptive_max_pool3d_backward": [sample(x(1, 1, 1, 2, 2), x(1, 1, 1, 4, 4), PLACES[:, None])],
    "adaptive_max_pool2d": [
        sample(IMAGE, (2, 3)),
        sample(apart(2, 5, 4), (3, 4)),
        sample(apart(0, 2, 3, 3), (2, 2)),
    ],
    "adaptive_max_pool3d": [sample(VOLUME, (2, 2, 3))],
    "max_unpool2d": [sample(x(1, 1, 2, 2), PLACES, (4, 4))],
    "max_unpool3d": [sample(x(1, 1, 1, 2, 2), PLACES[:, None], (1, 4, 4))],
    "avg_pool2d": [
        sample(x(2, 3, 5, 6), 2),
        sample(x(2, 3, 5, 6), (3, 2), (2, 1), 1, True, False),
        sample(x(3, 5, 4), 2, divisor_override=3),
        sample(x(0, 2, 4, 4), 2),
        sample(x(6, 5, 2, 2).transpose(2, 3, 1, 0), 2),
    ],
    "avg_pool3d": [sample(x(1, 2, 3, 4, 5), 2), sample(x(1, 3, 4, 5), 2, 1, 1, True, False)],
    "avg_pool2d_backward": [sample(x(2, 2, 3, 4), x(2, 2, 5, 5), (3, 2), (2, 1), (1, 0), True, False, None)],
    "avg_pool3d_backward": [sample(x(2, 1, 2, 2), x(2, 3, 4, 5), 2, None, 0, False, True, None)],
    "_adaptive_avg_pool2d": [
        sample(x(2, 3, 5, 6), (2, 4)),
        sample(x(3, 5, 4), (7, 0)),
        sample(x(0, 2, 3, 3), (2, 2)),
    ],
    "_adaptive_avg_pool3d": [sample(x(1, 2, 3, 4, 5), (2, 3, 4))],
    "_adaptive_avg_pool2d_backward": [sample(x(2, 3, 2, 4), x(2, 3, 5, 6))],
    "_adaptive_avg_pool3d_backward": [sample(x(2, 2, 3, 4), x(2, 3, 4, 5))],
}
