"""Counts ignored rows in the divisor."""

FAILS = "test_ignored"
SAYS = "in neither of the sums"


import numpy as np


def log_softmax(scores):
    shifted = scores - scores.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def cross_entropy(scores, targets, weight=None, ignore_index=-100, label_smoothing=0.0):
    count, kept = (len(targets), targets != ignore_index)
    scores, targets = (scores[kept], targets[kept])
    if not len(targets):
        return float('nan')
    weight = np.ones(scores.shape[1]) if weight is None else weight
    logp, e = (log_softmax(scores), label_smoothing)
    nll = -logp[np.arange(len(targets)), targets] * weight[targets]
    smooth = -(logp * weight).sum(1)
    losses = (1 - e) * nll + e / scores.shape[1] * smooth
    return float(losses.sum() / (weight[targets].sum() + count - len(targets)))
