"""Reductions, softmax and normalisation against NumPy in float64."""

import numpy as np
import pytest

from teachtorch.kernels.cuda import normalization, reduce, softmax

from .conftest import Guarded, flat

FOLDS = {"sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min}
TOLERANCE = {"rtol": 2e-5, "atol": 2e-6}


def fold(name, x, dtype):
    outer, count, inner = x.shape
    out, used = Guarded(outer * inner, dtype), []

    def scratch(size, dtype):
        used.append(Guarded(size, dtype))
        return used[-1].memory

    reduce.run(name, out.memory, flat(x), outer, count, inner, scratch)
    return out.result((outer, inner)), used


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 1), (2, 13, 3), (1, 9, 4)])
def test_folds(rng, name, shape):
    x = rng.standard_normal(shape).astype(np.float32)
    np.testing.assert_allclose(
        fold(name, x, np.float32)[0], FOLDS[name](x.astype(np.float64), 1), **TOLERANCE
    )


@pytest.mark.parametrize("name", ["sum", "amax"])
def test_a_long_row_is_shared_by_blocks(rng, name):
    x = rng.standard_normal((1, 131, 1)).astype(np.float32)
    found, used = fold(name, x, np.float32)
    assert used, "one block did all the work"
    np.testing.assert_allclose(found, FOLDS[name](x.astype(np.float64), 1), **TOLERANCE)


def test_whole_numbers_are_summed_wide():
    x = np.full((1, 21, 1), 2**31 - 1, np.int32)
    assert fold("sum", x, np.int64)[0] == 21 * (2**31 - 1)


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_nan_wins(rng, name):
    x = rng.standard_normal((2, 11, 1)).astype(np.float32)
    x[0, 7] = np.nan
    found = fold(name, x, np.float32)[0]
    assert np.isnan(found[0, 0]) and found[1, 0] == FOLDS[name](x[1])


def test_sums_of_nothing():
    assert fold("sum", np.empty((2, 0, 1), np.float32), np.float32)[0].tolist() == [[0], [0]]


def reference_softmax(x, is_log):
    shifted = x - x.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return logs if is_log else np.exp(logs)


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize("shape", [(3, 13, 1), (2, 5, 3), (1, 1, 1)])
def test_softmax(rng, shape, is_log):
    x = (rng.standard_normal(shape) * 4 + 200).astype(np.float32)
    outer, count, inner = shape
    out = Guarded(x.size, np.float32)
    softmax.forward(out.memory, flat(x), outer, count, inner, is_log)
    expected = reference_softmax(x.astype(np.float64), is_log)
    np.testing.assert_allclose(out.result(shape), expected, **TOLERANCE)

    grad, slopes = rng.standard_normal(shape).astype(np.float32), Guarded(x.size, np.float32)
    result = expected.astype(np.float32)
    softmax.backward(slopes.memory, flat(grad), flat(result), outer, count, inner, is_log)
    if is_log:
        wanted = grad - np.exp(expected) * grad.sum(1, keepdims=True)
    else:
        wanted = (grad - (grad * expected).sum(1, keepdims=True)) * expected
    np.testing.assert_allclose(slopes.result(shape), wanted, rtol=1e-4, atol=1e-5)


def test_layer_norm(rng):
    rows, count = 3, 13
    x = rng.standard_normal((rows, count)) + 50
    weight, bias, grad = (
        rng.standard_normal(count),
        rng.standard_normal(count),
        rng.standard_normal((rows, count)),
    )
    means, variances = Guarded(rows, np.float64), Guarded(rows, np.float64)
    normalization.row_statistics(means.memory, variances.memory, flat(x), rows, count)
    np.testing.assert_allclose(means.result(), x.mean(1))
    np.testing.assert_allclose(variances.result(), x.var(1))

    rstd = 1 / np.sqrt(x.var(1) + 1e-5)
    held = flat(x), flat(x.mean(1)), flat(rstd)
    out = Guarded(x.size, np.float64)
    normalization.normalize_rows(out.memory, *held, flat(weight), flat(bias), rows, count)
    centred = (x - x.mean(1, keepdims=True)) * rstd[:, None]
    np.testing.assert_allclose(out.result((rows, count)), centred * weight + bias)

    slopes, of_weight, of_bias = (
        Guarded(x.size, np.float64),
        Guarded(count, np.float64),
        Guarded(count, np.float64),
    )
    memories = slopes.memory, of_weight.memory, of_bias.memory
    normalization.rows_gradient(*memories, flat(grad), *held, flat(weight), rows, count)
    weighted = grad * weight
    along = (weighted * centred).mean(1, keepdims=True)
    wanted = rstd[:, None] * (weighted - weighted.mean(1, keepdims=True) - centred * along)
    np.testing.assert_allclose(slopes.result((rows, count)), wanted, atol=1e-9)
    np.testing.assert_allclose(of_weight.result(), (grad * centred).sum(0), atol=1e-9)
    np.testing.assert_allclose(of_bias.result(), grad.sum(0))


def test_batch_norm(rng):
    x = rng.standard_normal((4, 3, 5)) + 20
    means, variances = Guarded(3, np.float64), Guarded(3, np.float64)
    normalization.channel_statistics(means.memory, variances.memory, flat(x), 4, 3, 5)
    np.testing.assert_allclose(means.result(), x.mean((0, 2)))
    np.testing.assert_allclose(variances.result(), x.var((0, 2)))
    weight, bias, rstd = rng.standard_normal(3), rng.standard_normal(3), 1 / np.sqrt(x.var((0, 2)) + 1e-5)
    out = Guarded(x.size, np.float64)
    held = [flat(each) for each in (x, x.mean((0, 2)), rstd, weight, bias)]
    normalization.normalize_channels(out.memory, *held, 4, 3, 5)
    wanted = (x - x.mean((0, 2), keepdims=True)) * (rstd * weight)[:, None] + bias[:, None]
    np.testing.assert_allclose(out.result(x.shape), wanted)
