"""Sample arguments for teachtorch/ops/softmax.py."""
import numpy as np

from tests.samples import sample, x

ALONG = [sample(x(3, 4), 0), sample(x(2, 3, 4), -1), sample(x(), 0), sample(x(0, 3), 1), sample(x(3, 0), 1),
         sample(x(4, 5, 3).transpose(2, 0, 1), 1), sample(np.array([1000.0, 999.0]), 0)]
BACKWARD = [sample(x(3, 4), x(3, 4, seed=1), 1), sample(x(2, 3), x(2, 3, seed=1), 0),
            sample(x(), x(seed=1), 0),
            sample(x(0, 3), x(0, 3), 1)]

SAMPLES = {
    "_safe_softmax": [sample(x(2, 3), 1), sample(x(2, 3), 0), sample(np.array([[1.0, 2.0], [-np.inf, -np.inf]]), 1,
                                                                    gradient=False)],
    "_softmax": ALONG, "_log_softmax": ALONG,
    "_softmax_backward_data": BACKWARD, "_log_softmax_backward_data": BACKWARD,
}
