"""Gamma and Bessel functions and the inverse of erf, by the identities that define them."""
import math

import numpy as np
import pytest

from teachtorch.kernels import special
from teachtorch.kernels.pointwise import Pointwise

POINTS = [0.05, 0.3, 0.5, 1.0, 1.7, 4.2, 11.9, 12.1, 60.0, 1e4]
BELOW_ZERO = [-0.3, -1.5, -2.7, -9.2]
EULER = 0.57721566490153286


def test_digamma_of_one_is_minus_eulers_constant():
    assert special.digamma_of(1.0) == pytest.approx(-EULER, rel=1e-14)


@pytest.mark.parametrize("x", POINTS + BELOW_ZERO)
def test_digamma_grows_by_the_reciprocal(x):
    assert special.digamma_of(x + 1) == pytest.approx(special.digamma_of(x) + 1 / x, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("x", POINTS + BELOW_ZERO)
def test_trigamma_falls_by_the_squared_reciprocal(x):
    expected = special.trigamma_of(x) - 1 / x**2
    assert special.trigamma_of(x + 1) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_trigamma_of_one_is_zeta_of_two():
    assert special.trigamma_of(1.0) == pytest.approx(math.pi**2 / 6, rel=1e-14)
    assert special.zeta_of(4.0, 1.0) == pytest.approx(math.pi**4 / 90, rel=1e-14)


@pytest.mark.parametrize("x", POINTS)
def test_digamma_is_the_slope_of_lgamma(x):
    step = 1e-4 * x
    slope = (special.lgamma_of(x + step) - special.lgamma_of(x - step)) / (2 * step)
    assert special.digamma_of(x) == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_poles():
    assert special.lgamma_of(0.0) == special.lgamma_of(-3.0) == special.lgamma_of(-math.inf) == math.inf
    assert special.digamma_of(0.0) == -math.inf and special.digamma_of(-0.0) == math.inf
    assert math.isnan(special.digamma_of(-2.0)) and special.trigamma_of(-2.0) == math.inf


@pytest.mark.parametrize("x", [0.0, 0.4, 3.0, 12.5, 29.9, 30.1, 200.0, -3.0])
def test_bessel_functions_are_their_integrals(x):
    """I_n(x) is the mean of exp(x cos t) cos(n t) over a turn; the trapezoid rule converges at once."""
    t = 2 * math.pi * np.arange(400) / 400
    assert special.i0_of(x) == pytest.approx(np.mean(np.exp(x * np.cos(t))), rel=1e-13)
    assert special.i1_of(x) == pytest.approx(np.mean(np.exp(x * np.cos(t)) * np.cos(t)), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("y", [1e-12, 0.1, -0.5, 0.9, 0.99999, 1 - 2.0**-50, -1 + 2.0**-40])
def test_erfinv_undoes_erf(y):
    x = special.erfinv_of(y)
    assert math.erfc(abs(x)) == pytest.approx(1 - abs(y), rel=1e-12)
    assert math.copysign(1, x) == math.copysign(1, y)


def test_erfinv_at_and_past_the_ends():
    assert special.erfinv_of(1.0) == math.inf and special.erfinv_of(-1.0) == -math.inf
    assert math.isnan(special.erfinv_of(1.5)) and special.erfinv_of(0.0) == 0.0


def digamma(x):
    return special.digamma(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_compiled_form_equals_python(dtype):
    x = np.linspace(-5.3, 20, 300).astype(dtype)
    expected = special.each(special.digamma_of)(x)
    np.testing.assert_allclose(Pointwise(digamma)(x), expected, rtol=1e-5 if dtype == "float32" else 1e-12)
