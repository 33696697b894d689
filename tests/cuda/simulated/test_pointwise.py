"""Pointwise kernels: broadcasting, strides, dtypes, and the one-element functions that the CPU has."""

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.kernels import scalar
from teachtorch.kernels.cuda import pointwise
from teachtorch.kernels.cuda.arrays import collapsed

from .conftest import Guarded, strided


def add(x, y):
    return x + y


def less(x, y):
    return x < y


def choose(condition, x, y):
    return x if condition else y


def shapes(*operands):
    return np.broadcast_shapes(*[x.shape for x in operands])


def run(function, operands, dtype):
    shape = shapes(*operands)
    out = Guarded(int(np.prod(shape)), dtype)
    pointwise.run(
        function, out.strided(shape), [x if isinstance(x, np.generic) else strided(x) for x in operands]
    )
    return out.result(shape)


@pytest.mark.parametrize("size", [1, 7, 33, 71])
def test_flat(rng, size):
    x, y = rng.standard_normal((2, size)).astype(np.float32)
    np.testing.assert_array_equal(run(add, [x, y], np.float32), x + y)


def test_broadcasting_and_strides(rng):
    whole = rng.standard_normal((6, 5, 4))
    x, y = whole[::2, :, 1].T, rng.standard_normal((5, 1))
    np.testing.assert_array_equal(run(add, [x, y], np.float64), x + y)
    z = rng.standard_normal((2, 1, 3))
    np.testing.assert_array_equal(run(add, [x, z], np.float64), x + z)


def test_numbers(rng):
    x = rng.standard_normal((3, 5)).astype(np.float32)
    np.testing.assert_array_equal(run(add, [x, np.float32(2.5)], np.float32), x + np.float32(2.5))
    np.testing.assert_array_equal(run(add, [np.float32(2.5), x], np.float32), x + np.float32(2.5))


def test_conditions(rng):
    x, y = rng.integers(-9, 9, (2, 17))
    np.testing.assert_array_equal(run(less, [x, y], np.bool_), x < y)
    np.testing.assert_array_equal(run(choose, [x < y, x, y], np.int64), np.minimum(x, y))


def test_in_place(rng):
    x = rng.standard_normal((4, 6)).astype(np.float32)
    out = strided(x.T)
    pointwise.run(add, out, [out, strided(np.arange(4, dtype=np.float32))])
    np.testing.assert_array_equal(
        out.memory.copy_to_host().reshape(4, 6), x + np.arange(4, dtype=np.float32)[:, None]
    )


def test_empty():
    assert run(add, [np.empty((0, 3), np.float32), np.empty((1, 3), np.float32)], np.float32).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "function",
    [
        scalar.exp,
        scalar.log,
        scalar.tanh,
        scalar.sigmoid,
        scalar.erf,
        scalar.gelu,
        scalar.log1p,
        scalar.expm1,
    ],
    ids=lambda f: f.__name__,
)
def test_one_element_functions(rng, function, dtype):
    x = np.concatenate([rng.standard_normal(9) * 3, [0, -0.0, 40, -40, np.inf, -np.inf, np.nan]]).astype(
        dtype
    )
    with np.errstate(all="ignore"):
        name = function.__name__
        module = torch.nn.functional if name == "gelu" else torch
        expected = getattr(module, name)(torch.from_numpy(x)).numpy()
    eps = np.finfo(dtype).eps
    near_zero = 8 * eps if function is scalar.gelu else 1e-30  # gelu multiplies by 1 + erf(x), which cancels
    np.testing.assert_allclose(run(function, [x], dtype), expected, 8 * eps, near_zero)


EDGES = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -7.25,
    1e20,
    -1e20,
    np.inf,
    -np.inf,
    np.nan,
    4503599627370497.5,
]


@pytest.mark.parametrize("name", ["square_root", "truncated", "rounded_down", "rounded_up", "rounded"])
def test_what_numba_cuda_has_not(name):
    ufunc = {
        "square_root": np.sqrt,
        "truncated": np.trunc,
        "rounded_down": np.floor,
        "rounded_up": np.ceil,
        "rounded": np.rint,
    }[name]
    found = run(ufunc_form(ufunc), [np.array(EDGES)], np.float64)
    with np.errstate(all="ignore"):
        expected = ufunc(np.array(EDGES))
    np.testing.assert_array_equal(found, expected)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[is_number]), np.signbit(expected[is_number]))


def ufunc_form(ufunc):
    """A one-element function that calls NumPy, as declarations of operators do."""

    def form(x):
        return ufunc(x)

    return form


def c_remainder(x, y):
    return np.fmod(x, y)


def test_remainders():
    x, y = np.array(EDGES)[:, None], np.array([1.0, -3.0, 0.0, np.inf, np.nan])[None]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(c_remainder, [x, y], np.float64), np.fmod(x, y))


def test_collapsed():
    assert collapsed((2, 3, 4), [(12, 4, 1), (12, 4, 1)]) == ((24,), [(1,), (1,)])
    assert collapsed((2, 3, 4), [(12, 4, 1), (0, 4, 1)]) == ((2, 12), [(12, 1), (0, 1)])
    assert collapsed((1, 3, 1), [(3, 1, 1)]) == ((3,), [(1,)])
    assert collapsed((), [()]) == ((1,), [(0,)])
