"""Grades batch_norm.py."""

import numpy as np

from exercises.grading import close, equal, points, raises

X = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]])


def normal(x, mean, variance, eps=1e-5):
    return (x - mean) / np.sqrt(variance + eps)


@points(1, "training normalises with the batch")
def test_training(yours):
    m = yours.BatchNorm(2)
    why = "in training the variance divides by n: the biased one"
    close(m(X), normal(X, X.mean(0), X.var(0)), why, what="the output in training")


@points(1, "weight and bias come last")
def test_affine(yours):
    m = yours.BatchNorm(2)
    m.weight, m.bias = np.array([2.0, 3.0]), np.array([1.0, -1.0])
    close(
        m(X),
        normal(X, X.mean(0), X.var(0)) * [2.0, 3.0] + [1.0, -1.0],
        "times weight, plus bias",
        what="the output",
    )


@points(1, "images: statistics over all places")
def test_images(yours):
    x = np.arange(24.0).reshape(2, 3, 2, 2) ** 1.5
    m = yours.BatchNorm(3)
    expected = normal(x, x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True))
    close(
        m(x),
        expected,
        "one mean and variance per channel, over the batch and all places",
        what="the output for (2, 3, 2, 2)",
    )
    close(m.running_var, 0.9 + 0.1 * x.var((0, 2, 3), ddof=1), "n is 2 * 2 * 2 here", what="running_var")


@points(1, "the running mean")
def test_running_mean(yours):
    m = yours.BatchNorm(2)
    m(X)
    why = "(1 - momentum) * running + momentum * batch: 0.9 * 0 + 0.1 * mean"
    close(m.running_mean, 0.1 * X.mean(0), why, what="running_mean after one batch")
    m(X + 1)
    close(
        m.running_mean,
        0.9 * 0.1 * X.mean(0) + 0.1 * (X.mean(0) + 1),
        why,
        what="running_mean after two batches",
    )


@points(1, "the running variance is the unbiased one")
def test_running_var(yours):
    m = yours.BatchNorm(2, momentum=0.5)
    m(X)
    close(
        m.running_var,
        0.5 + 0.5 * X.var(0, ddof=1),
        "what is remembered divides by n - 1",
        what="running_var after one batch",
    )


@points(1, "evaluating normalises with the running values")
def test_eval(yours):
    m = yours.BatchNorm(2)
    m(X)
    mean, variance = np.array(m.running_mean), np.array(m.running_var)
    m.eval()
    close(
        m(X[:1]),
        normal(X[:1], mean, variance),
        "evaluating takes the running values, a batch of one too",
        what="the output",
    )


@points(1, "evaluating changes nothing")
def test_eval_changes_nothing(yours):
    m = yours.BatchNorm(2)
    m(X)
    before = np.array(m.running_mean), np.array(m.running_var), m.num_batches
    m.eval()
    m(X + 100)
    equal(
        (m.running_mean, m.running_var, m.num_batches),
        before,
        "evaluating must not learn",
        what="mean, variance, num_batches",
    )


@points(1, "the number of batches, and a plain average")
def test_average(yours):
    m = yours.BatchNorm(2, momentum=None)
    for shift in (0.0, 1.0, 5.0):
        m(X + shift)
    equal(m.num_batches, 3, "three batches in training", what="num_batches")
    close(
        m.running_mean,
        X.mean(0) + 2.0,
        "momentum None: the plain average of all batches",
        what="running_mean",
    )
    m = yours.BatchNorm(2, momentum=0.0)
    m(X)
    equal(m.running_mean, np.zeros(2), "a momentum of 0 is none of None: nothing new comes in", what="with momentum 0")


@points(1, "one value per channel is refused in training")
def test_single(yours):
    raises(ValueError, yours.BatchNorm(2), X[:1], why="a single value has no spread")
    equal(
        yours.BatchNorm(2)(X[:1, :, None] * np.ones(4)).shape,
        (1, 2, 4),
        "four places are four values",
        what="the shape for (1, 2, 4)",
    )


@points(1, "any batch")
def test_any(yours, rng):
    numbers = np.random.default_rng(rng.randrange(10**6))
    for _ in range(10):
        n, c = rng.randint(2, 5), rng.randint(1, 4)
        x = numbers.normal(3, 2, (n, c, rng.randint(1, 3)))
        m = yours.BatchNorm(c, eps=1e-3, momentum=0.3)
        mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
        close(m(x), normal(x, mean, variance, 1e-3), "training", what="the output")
        close(m.running_var, 0.7 + 0.3 * x.var((0, 2), ddof=1), "running", what="running_var")
