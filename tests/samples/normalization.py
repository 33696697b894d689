"""Sample arguments for teachtorch/ops/normalization.py."""

from tests.samples import positive, sample, x

SAMPLES = {
    "native_layer_norm": [
        sample(x(3, 4), (4,)),
        sample(x(3, 4), (4,), x(4), x(4, seed=1), 0.1),
        sample(x(2, 3), (2, 3)),
        sample(x(2, 3, 4), (3, 4), x(3, 4)),
        sample(x(4, 3).T, (4,), None, x(4), 1e-3),
        sample(x(4), (4,)),
        sample(x(0, 3), (3,), x(3)),
    ],
    "native_layer_norm_backward": [
        sample(x(3, 4), x(3, 4, seed=1), (4,), x(4), x(3, 1), positive(3, 1)),
        sample(x(2, 3), x(2, 3, seed=1), (2, 3), None, x(1, 1), positive(1, 1)),
    ],
}
