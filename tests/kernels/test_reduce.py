"""Reductions: values, accuracy, dtypes, empty arrays, NaN."""

import math

import numpy as np
import pytest

from teachtorch.kernels import parallel, reduce
from teachtorch.kernels.pointwise import SMALL

NAN = math.nan

# Shapes below and above the size from which loops are compiled; each with axes that lie differently in
# memory.
CASES = [
    ((), None), ((5,), None), ((5,), (0,)), ((3, 4), (0,)), ((3, 4), (1,)), ((3, 4), (-1,)), ((3, 4), (0, 1)),
    ((40000,), None), ((100001,), (0,)), ((400, 100), (1,)), ((400, 100), (0,)), ((10000, 3), (0,)),
    ((10000, 3), (1,)), ((3, 9000), (0,)), ((8, 16, 20, 20), (0, 2, 3)), ((8, 16, 20, 20), (1,)),
    ((3, 2000, 7), (1,)), ((90000, 2), (0,)), ((2, 70001, 1), (1,)),
]


def numbers(shape, dtype="float32"):
    rng = np.random.default_rng(0)
    drawn = rng.normal(1, 1, shape) if np.dtype(dtype).kind == "f" else rng.integers(0, 100, shape)
    return np.asarray(drawn).astype(dtype)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape, axes", CASES)
def test_sum_and_extremes(shape, axes, keepdims):
    x = numbers(shape)
    exact = x.sum(axis=axes, keepdims=keepdims, dtype=np.float64)
    result = reduce.sum(x, axes, keepdims)
    assert type(result) is np.ndarray and result.dtype == np.float32 and result.shape == exact.shape
    np.testing.assert_allclose(result, exact, rtol=1e-6, atol=1e-5)
    np.testing.assert_array_equal(reduce.amax(x, axes, keepdims), x.max(axis=axes, keepdims=keepdims))
    np.testing.assert_array_equal(reduce.amin(x, axes, keepdims), x.min(axis=axes, keepdims=keepdims))


@pytest.mark.parametrize("shape, axes", CASES)
def test_mean_and_variance(shape, axes):
    x = numbers(shape)
    np.testing.assert_allclose(reduce.mean(x, axes), x.mean(axis=axes, dtype=np.float64), rtol=2e-6, atol=2e-7)
    for correction in (0, 1):
        with np.errstate(all="ignore"):
            count = math.prod(x.shape[axis] for axis in (range(x.ndim) if axes is None else axes))
            squares = x.var(axis=axes, dtype=np.float64) * count
            expected = np.divide(squares, count - correction)
        np.testing.assert_allclose(reduce.var(x, axes, correction), expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
@pytest.mark.parametrize("size", [100, 3 * SMALL])
def test_integers_are_summed_as_int64(dtype, size):
    x = (numbers((size, 2), "int64") % 2).astype(dtype) if dtype == "bool" else numbers((size, 2), dtype)
    result = reduce.sum(x, (0,))
    assert result.dtype == np.int64
    np.testing.assert_array_equal(result, x.sum(axis=0, dtype=np.int64))
    np.testing.assert_array_equal(reduce.amax(x, (0,)), x.max(axis=0))


@pytest.mark.parametrize("size", [1000, 3 * SMALL])
def test_half_precision_is_summed_wide(size):
    """Ones in float16 summed one by one stop growing at 2048."""
    x = np.ones((2, size), np.float16)
    assert reduce.sum(x, (1,)).tolist() == [float(np.float16(size))] * 2
    assert reduce.sum(np.ones((size, 2), np.float16), (0,)).tolist() == [float(np.float16(size))] * 2
    assert reduce.mean(x, (1,)).tolist() == [1.0, 1.0]
    assert reduce.sum(x, (1,)).dtype == np.float16


@pytest.mark.parametrize("shape, axes", [((10**6, 2), (0,)), ((1 << 20,), None), ((16000, 1), (0,))])
def test_sums_are_at_least_as_accurate_as_numpy_s(shape, axes):
    x = np.abs(numbers(shape)) + np.float32(0.1)
    exact = x.sum(axis=axes, dtype=np.float64)
    ours = np.abs(reduce.sum(x, axes) - exact).max()
    assert ours <= np.abs(x.sum(axis=axes) - exact).max()
    assert ours <= np.spacing(np.float32(exact.max()))


@pytest.mark.parametrize(
    "shape, axes", [((20, 5000), (1,)), ((5000, 20), (0,)), ((100001,), None), ((9, 7, 700), (0, 2))])
def test_variance_far_from_zero(shape, axes):
    x = (1e4 + np.random.default_rng(0).normal(0, 1, shape)).astype(np.float32)
    np.testing.assert_allclose(reduce.var(x, axes), x.var(axis=axes, dtype=np.float64, ddof=1), rtol=1e-5)


@pytest.mark.parametrize("shape, axes", CASES)
def test_products(shape, axes):
    x = np.exp(0.01 * (numbers(shape) - 1))
    np.testing.assert_allclose(reduce.product(x, axes), x.prod(axis=axes, dtype=np.float64), rtol=1e-4)
    assert reduce.product(x, axes).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [10, 2 * SMALL])
def test_nan_is_the_largest_and_the_smallest(size, dtype):
    x = np.zeros((2, size), dtype)
    x[0, size // 2] = NAN
    x[0, size // 2 + 1] = np.copysign(NAN, -1)
    x[1, 3] = math.inf
    x[1, 4] = -math.inf
    np.testing.assert_array_equal(reduce.amax(x, (1,)), [NAN, math.inf])
    np.testing.assert_array_equal(reduce.amin(x, (1,)), [NAN, -math.inf])
    assert reduce.argmax(x, 1).tolist() == [size // 2, 3]
    assert reduce.argmin(x, 1).tolist() == [size // 2, 4]


@pytest.mark.parametrize("shape", [(3, 4), (300, 200)])
def test_the_first_of_equal_elements_wins(shape):
    x = numbers(shape, "int32") // 10
    for axis in (0, 1, -1, None):
        np.testing.assert_array_equal(reduce.argmax(x, axis), x.argmax(axis))
        np.testing.assert_array_equal(reduce.argmin(x, axis), x.argmin(axis))
        assert reduce.argmax(x, axis).dtype == np.int64
    assert reduce.argmax(x, 1, keepdims=True).shape == (shape[0], 1)
    assert reduce.argmax(x, None, keepdims=True).shape == (1, 1)


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[:, ::3], lambda x: x[::2], lambda x: x[::-1]])
def test_any_layout(view):
    x = view(numbers((500, 300)))
    for axes in ((0,), (1,), None):
        np.testing.assert_allclose(reduce.sum(x, axes), x.sum(axis=axes, dtype=np.float64), rtol=1e-6)
        np.testing.assert_array_equal(reduce.amax(x, axes), x.max(axis=axes))


def test_nothing_to_reduce():
    assert reduce.sum(np.ones((0, 3), np.float32), (0,)).tolist() == [0, 0, 0]
    assert reduce.sum(np.ones((3, 0), np.float32), (0,)).shape == (0,)
    assert np.isnan(reduce.mean(np.ones((0, 3), np.float32), (0,))).all()
    assert np.isnan(reduce.var(np.ones((1, 3), np.float32), (0,))).all()
    for extreme in (reduce.amax, reduce.amin):
        with pytest.raises(ValueError):
            extreme(np.ones((0, 3), np.float32), (0,))
        assert extreme(np.ones((3, 0), np.float32), (0,)).shape == (0,)
    x = numbers((200, 100))
    np.testing.assert_array_equal(reduce.sum(x, ()), x)
    np.testing.assert_array_equal(reduce.amax(x, ()), x)


def test_sums_too_large_become_infinite_without_a_warning():
    for size in (10, 2 * SMALL):
        x = np.full(size, 3e38, np.float32)
        assert reduce.sum(x) == math.inf
        assert reduce.sum(x, out_dtype=np.float64) < math.inf


@pytest.mark.parametrize("shape, axes", [((300000,), None), ((400, 100), (1,)), ((400, 100), (0,))])
def test_results_do_not_depend_on_the_number_of_threads(shape, axes):
    x, before, results = numbers(shape), parallel.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            results.append(reduce.sum(x, axes))
    finally:
        parallel.set_num_threads(before)
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()


@pytest.mark.parametrize("dtype, total", [("float32", "float32"), ("int32", "int64"), ("float16", "float16")])
def test_running_sums(dtype, total):
    x = numbers((5, 6), dtype)
    assert reduce.cumsum(x, 1).dtype == total
    np.testing.assert_allclose(reduce.cumsum(x, 1), np.cumsum(x, 1, dtype=np.float64), rtol=2e-3)
