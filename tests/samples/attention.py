"""Sample arguments for teachtorch/ops/attention.py and multihead_attention.py."""

import numpy as np

from tests.samples import sample, x

Q, K, V = x(2, 3, 4, 5), x(2, 3, 6, 5, seed=1), x(2, 3, 6, 5, seed=2)
HEADS_LAST = x(2, 4, 3, 5).transpose(0, 2, 1, 3)
SEEN = np.arange(24).reshape(4, 6) % 5 < 3
BLIND = np.array([[True, True, False], [False, False, False]])
LSE = np.log(np.exp(Q @ K.swapaxes(-1, -2) / 5**0.5).sum(-1))
OUT = np.exp(Q @ K.swapaxes(-1, -2) / 5**0.5 - LSE[..., None]) @ V

SAMPLES = {
    "_scaled_dot_product_flash_attention_for_cpu": [
        sample(Q, K, V),
        sample(Q, K, V, True),
        sample(Q, K, V, False, SEEN),
        sample(Q, K, V, False, x(6), 0.3, gradient=False),
        sample(HEADS_LAST, K, V, True, SEEN),
        sample(x(1, 1, 2, 4), x(1, 1, 3, 4), x(1, 1, 3, 4), False, BLIND, gradient=False),
    ],
    "_scaled_dot_product_flash_attention_for_cpu_backward": [
        sample(x(2, 3, 4, 5, seed=3), None, Q, K, V, False, None, None, OUT, LSE)
    ],
}
