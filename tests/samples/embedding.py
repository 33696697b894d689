"""Samples for teachtorch/ops/embedding.py."""

import numpy as np

from tests.samples import ints, sample, x

WORDS = np.array([[0, 3, 3], [1, 0, 2]])

SAMPLES = {
    "embedding": [
        sample(x(4, 3), WORDS),
        sample(x(4, 3), WORDS, 3, gradient=False),
        sample(x(4, 3), WORDS, 0, True, gradient=False),
        sample(x(4, 3), np.array(2)),
        sample(x(4, 3), ints(0)),
    ],
    "embedding_dense_backward": [
        sample(x(2, 3, 2), WORDS, 4, -1, False),
        sample(x(2, 3, 2), WORDS, 4, 3, False),
    ],
}
