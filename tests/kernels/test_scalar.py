"""The vectorisable mathematics: errors in ulp, and what happens at the edges."""

import math

import numpy as np
import pytest

from teachtorch.kernels import scalar
from teachtorch.kernels.pointwise import Pointwise, silently

DTYPES = [np.float32, np.float64]
WIDER = {np.float32: np.float64, np.float64: np.longdouble}
# Half an ulp for the reference where long double is no wider than float64.
SLACK = 0.0 if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps else 1.0


def by_element(function):
    """Return ``function`` of Python floats over an array of any floating dtype, in float64."""
    return lambda x: np.array([function(float(value)) for value in x])


def exact_sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Name: (reference in a wider dtype, largest error in ulp, arguments that it is measured on).
REFERENCES = {
    "exp": (np.exp, 1.5, (-110, 100)),
    "expm1": (np.expm1, 2.5, (-20, 90)),
    "log": (np.log, 1.5, (0, 1e30)),
    "log2": (np.log2, 2.5, (0, 1e30)),
    "log10": (np.log10, 2.5, (0, 1e30)),
    "log1p": (np.log1p, 2.5, (-1, 1e10)),
    "tanh": (np.tanh, 3.5, (-12, 12)),
    "sigmoid": (exact_sigmoid, 3.5, (-80, 80)),
    "erf": (by_element(math.erf), 3.5, (-5, 5)),
}
KERNELS = {
    "exp": Pointwise(lambda x: scalar.exp(x)),
    "expm1": Pointwise(lambda x: scalar.expm1(x)),
    "log": Pointwise(lambda x: scalar.log(x)),
    "log2": Pointwise(lambda x: scalar.log2(x)),
    "log10": Pointwise(scalar.log10),
    "log1p": Pointwise(scalar.log1p),
    "tanh": Pointwise(scalar.tanh),
    "sigmoid": Pointwise(scalar.sigmoid),
    "erf": Pointwise(lambda x: scalar.erf(x)),
}


def arguments(low, high, dtype):
    """Return numbers of all sizes between two bounds: evenly spread ones, and ones with random exponents."""
    rng = np.random.default_rng(0)
    even = rng.uniform(low, min(high, 1e3), 20000)
    small = rng.choice([-1.0, 1.0], 20000) * 10.0 ** rng.uniform(-30, math.log10(high), 20000)
    near_one = 1 + rng.normal(0, 1e-3, 2000)
    x = np.concatenate([even, small, near_one]).astype(dtype)
    return x[(x > low) & (x < high)]


def error_in_ulp(result, exact):
    """Return the largest distance from the exact values, in units of the last place of the exact one."""
    rounded = silently(exact.astype, result.dtype)
    assert (np.isfinite(rounded) == np.isfinite(result)).all()
    finite = np.isfinite(rounded)
    distance = np.abs(result[finite].astype(np.longdouble) - exact[finite])
    return float((distance / np.spacing(np.abs(rounded[finite]))).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REFERENCES)
def test_the_error_is_a_few_ulp(name, dtype):
    reference, limit, bounds = REFERENCES[name]
    x = arguments(*bounds, dtype)
    exact = silently(reference, x.astype(WIDER[dtype]))
    assert error_in_ulp(KERNELS[name](x), exact) <= limit + (SLACK if dtype is np.float64 else 0)


INF, NAN = math.inf, math.nan
EDGES = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (800.0, INF), (-800.0, 0.0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN), (800.0, INF), (1e-38, 1e-38)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "log2": [(0.0, -INF), (8.0, 3.0), (2.0**-126, -126.0), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "log10": [(0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF), (NAN, NAN), (-INF, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (1e-38, 1e-38), (50.0, 1.0)],
    "sigmoid": [(0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (9.0, 1.0)],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EDGES)
def test_edges(name, dtype):
    x, expected = np.array(EDGES[name], dtype).T
    result = KERNELS[name](x)
    np.testing.assert_array_equal(result, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_denormal_numbers_are_kept(dtype):
    tiny = np.finfo(dtype).tiny
    x = np.log(tiny / np.array([2.0, 64.0], dtype))
    np.testing.assert_allclose(KERNELS["exp"](x), tiny / np.array([2, 64]), rtol=1e-4)
    denormal = np.array([tiny / 4, tiny / 1024], dtype)
    np.testing.assert_allclose(KERNELS["log"](denormal), np.log(denormal.astype(np.longdouble)), rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_relu_and_the_extremes_pass_nan_on(dtype):
    x = np.array([-1.0, 2.0, NAN, -0.0, -INF], dtype)
    y = np.array([3.0, NAN, 1.0, 0.0, -INF], dtype)
    np.testing.assert_array_equal([scalar.relu(v) for v in x], [0.0, 2.0, NAN, 0.0, 0.0])
    np.testing.assert_array_equal([scalar.maximum(*pair) for pair in zip(x, y)], np.maximum(x, y))
    np.testing.assert_array_equal([scalar.minimum(*pair) for pair in zip(x, y)], np.minimum(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_python_functions_agree_with_their_compiled_loops(dtype):
    x = np.array([-30.0, -1.5, -1e-5, 0.25, 1.0, 3.0, 20.0], dtype)
    for name in ("exp", "tanh", "sigmoid", "erf"):
        plain = [getattr(scalar, name)(value) for value in x]
        np.testing.assert_allclose(plain, KERNELS[name](x), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_activations_are_what_their_papers_say(dtype):
    x = np.linspace(-6, 6, 101, dtype=dtype)
    wide = x.astype(np.float64)
    normal = 0.5 * (1 + by_element(math.erf)(wide / math.sqrt(2)))
    tolerance = {"rtol": 1e-5 if dtype is np.float32 else 1e-13, "atol": 4 * np.finfo(dtype).eps}
    np.testing.assert_allclose(ACTIVATIONS["gelu"](x), wide * normal, **tolerance)
    np.testing.assert_allclose(ACTIVATIONS["silu"](x), wide * exact_sigmoid(wide), **tolerance)
    np.testing.assert_allclose(ACTIVATIONS["softplus"](x), np.logaddexp(0, wide), **tolerance)


ACTIVATIONS = {name: Pointwise(getattr(scalar, name)) for name in ("gelu", "silu", "softplus")}


@pytest.mark.parametrize("dtype, form", [(np.float32, ("key_float32", "from_key_float32")),
                                         (np.float64, ("key_float64", "from_key_float64"))])
def test_integer_keys_order_floats(dtype, form):
    to_key, from_key = (getattr(scalar, name) for name in form)
    values = np.array([-INF, -3.5, -1e-40, -0.0, 0.0, 1e-40, 2.0, INF], dtype)
    keys = [to_key(value, 0) for value in values]
    assert keys == sorted(keys)
    np.testing.assert_array_equal([from_key(key) for key in keys], values)
