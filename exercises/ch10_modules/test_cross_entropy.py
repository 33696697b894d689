"""Grades cross_entropy.py."""

import math

import numpy as np

from exercises.grading import close, holds, points

Z = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0], [2.0, 2.0, 2.0], [-1.0, 0.0, 1.0]])
T = np.array([1, 0, 2, 2])
LOGP = Z - np.log(np.exp(Z).sum(1, keepdims=True))
NLL = -LOGP[np.arange(4), T]


@points(1, "the logarithms of the softmax")
def test_log_softmax(yours):
    close(yours.log_softmax(Z), LOGP, "each row for itself", what="log_softmax(scores)")


@points(1, "large scores")
def test_large_scores(yours):
    with np.errstate(all="ignore"):
        found = yours.log_softmax(np.array([[1000.0, 0.0], [-1000.0, -1000.0]]))
    expected = np.array([[0.0, -1000.0], [-math.log(2), -math.log(2)]])
    close(
        found,
        expected,
        "exp of a large score must not overflow: take the largest off first",
        what="log_softmax",
    )


@points(1, "the mean")
def test_mean(yours):
    close(
        yours.cross_entropy(Z, T),
        float(NLL.mean()),
        "all weights are 1",
        what="cross_entropy(scores, [1, 0, 2, 2])",
    )


@points(1, "weights")
def test_weights(yours):
    w = np.array([1.0, 2.0, 5.0])
    why = "the losses times weight[t], divided by the sum of the weights of the targets"
    close(yours.cross_entropy(Z, T, w), float((NLL * w[T]).sum() / w[T].sum()), why, what="weight=[1, 2, 5]")


@points(1, "ignored targets")
def test_ignored(yours):
    why = "an ignored row counts in neither of the sums"
    close(
        yours.cross_entropy(Z, np.array([1, -100, 2, -100])),
        float(NLL[[0, 2]].mean()),
        why,
        what="targets [1, -100, 2, -100]",
    )
    close(yours.cross_entropy(Z, T, ignore_index=2), float(NLL[:2].mean()), why, what="ignore_index=2")


@points(1, "nothing left")
def test_nothing_left(yours):
    with np.errstate(all="ignore"):
        found = yours.cross_entropy(Z[:2], np.array([-100, -100]))
    holds(
        isinstance(found, float) and math.isnan(found),
        "0 / 0: PyTorch gives nan",
        what="all targets ignored",
        got=repr(found),
        expected="nan",
    )


@points(1, "label smoothing")
def test_smoothing(yours):
    expected = float((0.7 * NLL - 0.3 * LOGP.mean(1)).mean())
    why = "every class gets e / C, the target included"
    close(yours.cross_entropy(Z, T, label_smoothing=0.3), expected, why, what="label_smoothing=0.3")


@points(1, "everything together")
def test_all(yours, rng):
    numbers = np.random.default_rng(rng.randrange(10**6))
    for _ in range(10):
        c = rng.randint(2, 5)
        z, w, e = numbers.normal(0, 3, (6, c)), numbers.uniform(0.5, 2, c), rng.random()
        t = numbers.integers(0, c, 6)
        t[rng.randrange(6)] = -1
        kept = t != -1
        logp = z[kept] - np.log(np.exp(z[kept]).sum(1, keepdims=True))
        nll = -logp[np.arange(kept.sum()), t[kept]] * w[t[kept]]
        losses = (1 - e) * nll - e / c * (logp * w).sum(1)
        expected = float(losses.sum() / w[t[kept]].sum())
        close(
            yours.cross_entropy(z, t, w, -1, e),
            expected,
            "smoothing weights each class, too",
            what="weights, an ignored row, smoothing",
        )
