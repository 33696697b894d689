"""Softmax, its logarithm, their gradients, and the negative log likelihood."""

import math

import numpy as np
import pytest

from teachtorch.kernels import parallel, softmax

SHAPES = [((), 0), ((5,), 0), ((3, 4), 0), ((3, 4), 1), ((3, 4), -1), ((2, 3, 4), 1), ((300, 100), 1),
          ((300, 100), 0), ((5000, 7), 1), ((20, 30, 50), 1)]


def numbers(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(0, 3, shape).astype(dtype)


def exact_softmax(x, axis):
    wide = np.atleast_1d(x.astype(np.float64))
    powers = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return (powers / powers.sum(axis=axis, keepdims=True)).reshape(x.shape)


@pytest.mark.parametrize("shape, axis", SHAPES)
def test_values(shape, axis):
    x = numbers(shape)
    expected = exact_softmax(x, axis)
    for function, value in ((softmax.softmax, expected), (softmax.log_softmax, np.log(expected))):
        result = function(x, axis)
        assert result.shape == shape and result.dtype == np.float32
        np.testing.assert_allclose(result, value, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("shape, axis", SHAPES)
def test_gradients(shape, axis):
    """J = diag(y) - y y^T, so J g = y * (g - y.g); for the logarithm it is g - y * sum(g)."""
    x, grad = numbers(shape), numbers(shape, seed=1)
    y, g = np.atleast_1d(exact_softmax(x, axis)), np.atleast_1d(grad.astype(np.float64))
    expected = (y * (g - (y * g).sum(axis=axis, keepdims=True))).reshape(shape)
    result = softmax.softmax_backward(grad, softmax.softmax(x, axis), axis)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=2e-6)
    expected = (g - y * g.sum(axis=axis, keepdims=True)).reshape(shape)
    result = softmax.log_softmax_backward(grad, softmax.log_softmax(x, axis), axis)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("rows", [3, 3000])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_dtypes(rows, dtype):
    x = numbers((rows, 10), dtype)
    result = softmax.softmax(x, 1)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, exact_softmax(x, 1), rtol=1e-3 if dtype == "float16" else 1e-13,
    atol=1e-7)


@pytest.mark.parametrize("rows", [4, 4000])
def test_infinities_and_nan(rows):
    x = np.zeros((rows, 8), np.float32)
    x[0, 2], x[1], x[2, 3], x[3, 1] = -math.inf, -math.inf, math.inf, math.nan
    result = softmax.softmax(x, 1)
    np.testing.assert_allclose(result[0], [1 / 7, 1 / 7, 0] + [1 / 7] * 5, rtol=1e-6)
    assert np.isnan(result[1:4]).any(axis=1).all() and not np.isnan(result[4:]).any()
    assert softmax.log_softmax(x, 1)[0, 2] == -math.inf


@pytest.mark.parametrize("rows", [2, 3000])
def test_large_numbers_do_not_overflow(rows):
    x = np.tile(np.array([1000, 999, 0, -1000] * 3, np.float32), (rows, 1))
    np.testing.assert_allclose(softmax.softmax(x, 1), exact_softmax(x, 1), rtol=1e-6, atol=1e-30)


def test_nothing():
    for shape in ((0, 3), (3, 0)):
        assert softmax.softmax(np.ones(shape, np.float32), 1).shape == shape


def test_results_do_not_depend_on_the_number_of_threads():
    x, before, results = numbers((300, 100)), parallel.get_num_threads(), []
    try:
        for threads in (1, 2):
            parallel.set_num_threads(threads)
            results.append(softmax.log_softmax(x, 1))
    finally:
        parallel.set_num_threads(before)
    assert (results[0] == results[1]).all()


@pytest.mark.parametrize("axes", [None, (0,), (1,), (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(axes, keepdims):
    x = numbers((3, 5)) + np.float32(500)
    expected = np.log(np.exp(x.astype(np.float64) - 500).sum(axis=axes, keepdims=keepdims)) + 500
    result = softmax.logsumexp(x, axes, keepdims)
    assert result.dtype == np.float32 and result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_logsumexp_at_infinities():
    inf = np.float32(math.inf)
    x = np.array([[-inf, -inf], [inf, 0], [-inf, 2], [math.nan, 0]], np.float32)
    np.testing.assert_array_equal(softmax.logsumexp(x, (1,)), [-inf, inf, 2, math.nan])
    assert softmax.logsumexp(np.ones((2, 0), np.float32), (1,)).tolist() == [-inf, -inf]


@pytest.mark.parametrize("extra", [(), (2, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_negative_log_likelihood(extra, weighted):
    rng = np.random.default_rng(0)
    log_probabilities = softmax.log_softmax(numbers((5, 4, *extra)), 1)
    target = rng.integers(0, 4, (5, *extra))
    target[1] = -100
    weight = rng.uniform(0.5, 2, 4).astype(np.float32) if weighted else None
    losses, weights = softmax.nll_loss(log_probabilities, target, weight)
    grad = rng.normal(size=target.shape).astype(np.float32)
    gradient = softmax.nll_loss_backward(grad, log_probabilities.shape, target, weight)
    expected = np.zeros_like(log_probabilities)
    for place in np.ndindex(target.shape):
        label = target[place]
        w = 0 if label == -100 else 1 if weight is None else weight[label]
        assert weights[place] == w
        if w:
            where = (place[0], label, *place[1:])
            assert losses[place] == -w * log_probabilities[where]
            expected[where] = -w * grad[place]
        else:
            assert losses[place] == 0
    np.testing.assert_array_equal(gradient, expected)


@pytest.mark.parametrize("label", [4, -1])
def test_a_target_that_is_no_class_is_refused(label):
    with pytest.raises(IndexError, match=f"Target {label} is out of bounds."):
        softmax.nll_loss(numbers((2, 4)), np.array([0, label]))
