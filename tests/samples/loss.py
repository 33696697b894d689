"""Sample arguments for teachtorch/ops/loss.py."""
import numpy as np

from tests.samples import ints, sample, x

CLASSES = ints(4, high=3)
IGNORED = np.array([0, -100, 2, 1])

SAMPLES = {
    "nll_loss": [sample(x(4, 3), CLASSES), sample(x(4, 3), CLASSES, None, "sum"),
                 sample(x(4, 3), IGNORED, None, "none"),
                 sample(x(4, 3), IGNORED), sample(x(3), ints(high=3)), sample(x(0, 3), ints(0), None, "sum")],
    "nll_loss2d": [sample(x(2, 3, 4, 2), ints(2, 4, 2, high=3)), sample(x(2, 3, 2), ints(2, 2, high=3), None,
                                                                        "none")],
    "nll_loss_backward": [sample(x(), (4, 3), IGNORED, None, "mean", -100),
                          sample(x(4), (4, 3), CLASSES, None, "none", -100),
                          sample(x(2, 4), (2, 3, 4), ints(2, 4, high=3), None, "none", -100)],
    "one_hot": [sample(ints(2, 3)), sample(ints(4), 7), sample(ints(0), 3), sample(ints(high=2))],
}
