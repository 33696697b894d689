"""Folds, extremes and running folds against NumPy: rows shorter and longer than a block, of all dtypes."""

import numpy as np
import pytest

from teachtorch.kernels.cuda import extremes, reduce, scan

from .conftest import Guarded, flat

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"]
SHAPES = [(1, 1, 1), (2, 7, 3), (1, 19, 2)]


def random_array(rng, shape, dtype):
    wide = rng.integers(0, 3, shape) if np.dtype(dtype).kind in "bu" else rng.integers(-3, 4, shape)
    return wide.astype(dtype)


class Scratch:
    """Poisoned memory between two launches, which is looked at when the test ends."""

    def __init__(self):
        self.used = []

    def __call__(self, size, dtype):
        self.used.append(Guarded(size, dtype))
        return self.used[-1].memory


def folded(name, x, dtype, centre=None):
    outer, count, inner = x.shape
    out, scratch = Guarded(outer * inner, dtype), Scratch()
    centre = None if centre is None else flat(centre)
    reduce.run(name, out.memory, flat(x), outer, count, inner, scratch, centre=centre)
    [each.result() for each in scratch.used]
    return out.result((outer, inner))


@pytest.mark.parametrize("dtype", DTYPES)
def test_truths_and_counts_of_every_dtype(rng, dtype):
    x = random_array(rng, (2, 11, 2), dtype)
    np.testing.assert_array_equal(folded("any", x, np.bool_), x.any(1))
    np.testing.assert_array_equal(folded("all", x, np.bool_), x.all(1))
    np.testing.assert_array_equal(folded("count_nonzero", x, np.int64), np.count_nonzero(x, 1))
    np.testing.assert_array_equal(folded("amax", x, dtype), x.max(1))
    np.testing.assert_array_equal(folded("amin", x, dtype), x.min(1))


def test_a_fraction_and_nan_are_not_zero():
    x = np.array([[[0.0], [0.25]], [[0.0], [np.nan]], [[0.0], [-0.0]]])
    assert folded("any", x, np.bool_).tolist() == [[True], [True], [False]]


@pytest.mark.parametrize("count", [1, 8, 9, 150])
def test_folds_of_changed_elements(rng, count):
    x = rng.standard_normal((1, count, 2))
    x[0, 0, 1] = np.nan
    np.testing.assert_allclose(folded("nansum", x, np.float64), np.nansum(x, 1), atol=1e-12)
    x[0, 0, 1] = -9
    np.testing.assert_allclose(folded("squares", x, np.float64), (x**2).sum(1))
    np.testing.assert_allclose(folded("sizes", x, np.float64), abs(x).sum(1))
    np.testing.assert_array_equal(folded("largest size", x, np.float64), abs(x).max(1))
    mean = x.mean(1)
    np.testing.assert_allclose(folded("squares around", x, np.float64, mean), ((x - mean) ** 2).sum(1))


def test_what_a_fold_of_nothing_is():
    x = np.empty((2, 0, 1))
    assert folded("any", x, np.bool_).tolist() == [[False]] * 2
    assert folded("all", x, np.bool_).tolist() == [[True]] * 2
    assert folded("prod", x, np.float64).tolist() == [[1]] * 2


def extreme(largest, x):
    outer, count, inner = x.shape
    values, places, scratch = Guarded(outer * inner, x.dtype), Guarded(outer * inner, np.int64), Scratch()
    extremes.run(largest, values.memory, places.memory, flat(x), outer, count, inner, scratch)
    [each.result() for each in scratch.used]
    return values.result((outer, inner)), places.result((outer, inner)), scratch.used


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [True, False])
def test_the_first_of_equal_extremes(rng, dtype, largest):
    for shape in SHAPES:
        x = random_array(rng, shape, dtype)
        values, places, _ = extreme(largest, x)
        np.testing.assert_array_equal(places, x.argmax(1) if largest else x.argmin(1))
        np.testing.assert_array_equal(values, x.max(1) if largest else x.min(1))


def test_the_first_nan_is_the_extreme():
    x = np.zeros((1, 40, 1), np.float32)
    x[0, [23, 30]] = np.nan
    for largest in (True, False):
        values, places, _ = extreme(largest, x)
        assert np.isnan(values[0, 0]) and places[0, 0] == 23


@pytest.mark.parametrize("where", [0, 77, 149])
def test_an_extreme_that_another_block_finds(rng, where):
    x = rng.random((1, 150, 1))
    x[0, where] = 2
    values, places, used = extreme(True, x)
    assert (values[0, 0], places[0, 0]) == (2, where) and used, "one block did all the work"
    assert extreme(True, np.ones((1, 150, 1)))[1].tolist() == [[0]]


def running(name, x, dtype):
    out = Guarded(x.size, dtype)
    scan.run(name, out.memory, flat(x), *x.shape)
    return out.result(x.shape)


@pytest.mark.parametrize("shape", [*SHAPES, (1, 8, 1), (2, 17, 1)])
def test_running_sums_and_products(rng, shape):
    x = rng.standard_normal(shape)
    np.testing.assert_allclose(running("cumsum", x, np.float64), x.cumsum(1), atol=1e-12)
    np.testing.assert_allclose(running("cumprod", x, np.float64), x.cumprod(1), atol=1e-12)
    np.testing.assert_allclose(
        running("logcumsumexp", 400 * x, np.float64), np.logaddexp.accumulate(400 * x, 1), rtol=1e-12
    )


def test_running_sums_are_kept_wide():
    x = np.full((1, 20, 1), 100, np.int8)
    assert running("cumsum", x, np.int64).ravel().tolist() == list(range(100, 2100, 100))


def test_a_running_sum_of_powers_from_nothing():
    x = np.array([-np.inf, -np.inf, 0.0, np.inf, 1.0]).reshape(1, 5, 1)
    assert running("logcumsumexp", x, np.float64).ravel().tolist() == [-np.inf, -np.inf, 0, np.inf, np.inf]


@pytest.mark.parametrize("largest", [True, False])
def test_running_extremes_take_the_last_of_equal_ones(rng, largest):
    x = rng.integers(0, 4, (2, 21, 2))
    values, places = Guarded(x.size, x.dtype), Guarded(x.size, np.int64)
    scan.extremes(largest, values.memory, places.memory, flat(x), *x.shape)
    wanted = (np.maximum if largest else np.minimum).accumulate(x, 1)
    np.testing.assert_array_equal(values.result(x.shape), wanted)
    steps = np.arange(21).reshape(1, 21, 1)
    np.testing.assert_array_equal(
        places.result(x.shape), np.maximum.accumulate(np.where(x == wanted, steps, 0), 1)
    )


def test_a_running_extreme_keeps_the_first_nan():
    x = np.array([1.0, 3.0, np.nan, 5.0, np.nan, *[9.0] * 6]).reshape(1, 11, 1)
    values, places = Guarded(11, x.dtype), Guarded(11, np.int64)
    scan.extremes(True, values.memory, places.memory, flat(x), *x.shape)
    assert values.result()[:2].tolist() == [1, 3] and np.isnan(values.result()[2:]).all()
    assert places.result().tolist() == [0, 1] + [2] * 9
