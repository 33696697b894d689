"""Cross entropy: weights, ignored targets, label smoothing.

For one row of scores (logits) z and a target class t:

    logp = z - log(sum(exp(z)))        the logarithms of the softmax; exp of a large score must not overflow
    nll  = -logp[t] * weight[t]

With label smoothing e the target is a mixture: 1 - e for t, and e / C for each of the C classes (t
included):

    loss = (1 - e) * nll + e / C * sum over classes c of -logp[c] * weight[c]

The result is the weighted mean: the sum of the losses, divided by the sum of weight[t]. Rows whose target
is ignore_index count in neither of the sums; if no row is left, the result is nan.
"""

import numpy as np


def log_softmax(scores):
    """The logarithms of the softmax of each row of an array (N, C)."""
    raise NotImplementedError


def cross_entropy(scores, targets, weight=None, ignore_index=-100, label_smoothing=0.0):
    """The loss as a float. scores: (N, C). targets: N ints. weight: C floats; None is 1 for each class."""
    raise NotImplementedError
