"""Sample arguments for teachtorch/ops/loss_pointwise.py. Weights are float32, since they have no derivative."""
import numpy as np

from tests.samples import positive, sample, x

REDUCTIONS = ("none", "mean", "sum")
A, B = x(3, 4), x(3, 4, seed=1)
COLUMNS = x(4, 3).T
PROBABILITIES = x(3, 4, low=0.1, high=0.9)


def weights(*shape):
    return positive(*shape).astype(np.float32)


def pairs(*options):
    """Samples of `loss(self, target, reduction, *options)`, with 0-dim, empty and non-contiguous tensors."""
    found = [sample(A, B, reduction, *options) for reduction in REDUCTIONS]
    return found + [sample(x(), x(seed=1), "none", *options), sample(x(0, 3), x(0, 3), "sum", *options),
                    sample(COLUMNS, B, "mean", *options)]


SAMPLES = {
    "mse_loss": pairs(),
    "mse_loss_backward": [sample(x(), A, B, "mean"), sample(x(3, 4, seed=2), A, B, "none"),
                          sample(x(), COLUMNS, B, "sum")],
    "smooth_l1_loss": pairs(0.7),
    "huber_loss": pairs(0.7),
    "binary_cross_entropy": [sample(PROBABILITIES, x(3, 4, low=0.0, high=1.0), weight, reduction)
                             for weight in (None, weights(3, 4)) for reduction in REDUCTIONS],
    "binary_cross_entropy_with_logits": [
        sample(A, x(3, 4, low=0.0, high=1.0), weight, pos_weight, reduction)
        for weight, pos_weight in ((None, None), (weights(4), None), (None, weights(4)), (weights(3, 4), weights(4)))
        for reduction in REDUCTIONS],
}
