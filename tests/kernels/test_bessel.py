"""Bessel and Airy functions, by the integrals and equations that define them."""
import math

import numpy as np
import pytest

from teachtorch.kernels import bessel, special
from teachtorch.kernels.pointwise import Pointwise

# On both sides of where one formula takes over from another.
POINTS = [1e-6, 0.3, 1.0, 2.5, 5.05, 7.0, 12.0, 24.9, 25.1, 60.0]


def turn(count=400):
    return 2 * math.pi * np.arange(count) / count


@pytest.mark.parametrize("x", POINTS + [-0.7, -30.0])
def test_j_is_its_integral(x):
    """J_n(x) is the mean of cos(n t - x sin t) over a turn; the trapezoid rule converges at once."""
    t = turn()
    assert bessel.j0_of(x) == pytest.approx(np.mean(np.cos(x * np.sin(t))), rel=1e-12, abs=1e-14)
    assert bessel.j1_of(x) == pytest.approx(np.mean(np.cos(t - x * np.sin(t))), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("x", POINTS)
def test_j_and_y_are_two_solutions_of_one_equation(x):
    """Their Wronskian J1 Y0 - J0 Y1 is 2 / (pi x)."""
    found = bessel.j1_of(x) * bessel.y0_of(x) - bessel.j0_of(x) * bessel.y1_of(x)
    assert found == pytest.approx(2 / (math.pi * x), rel=1e-12)


@pytest.mark.parametrize("x", [0.3, 5.05, 24.9, 40.0])
def test_y0_is_its_integral(x):
    """pi Y0(x) = integral of sin(x sin t) over 0 to pi - 2 integral of exp(-x sinh t) over t >= 0."""
    t, weights = np.polynomial.legendre.leggauss(200)
    near = np.sum(weights * np.sin(x * np.sin((t + 1) * math.pi / 2))) * math.pi / 2
    far = np.sum(weights * np.exp(-x * np.sinh((t + 1) * 3))) * 3
    assert bessel.y0_of(x) == pytest.approx((near - 2 * far) / math.pi, rel=1e-10)


@pytest.mark.parametrize("x", [1e-9, *POINTS])
def test_k_and_i_are_two_solutions_of_one_equation(x):
    """I0 K1 + I1 K0 is 1 / x."""
    found = special.i0e_of(x) * bessel.k1e_of(x) + special.i1e_of(x) * bessel.k0e_of(x)
    assert found == pytest.approx(1 / x, rel=1e-12)


@pytest.mark.parametrize("x", [0.3, 2.5, 12.0])
def test_k0_is_its_integral(x):
    """K0(x) is the integral of exp(-x cosh t) over t >= 0."""
    t, weights = np.polynomial.legendre.leggauss(200)
    expected = np.sum(weights * np.exp(-x * np.cosh((t + 1) * 3))) * 3
    assert bessel.k0_of(x) == pytest.approx(expected, rel=1e-12)
    assert bessel.k0e_of(x) == pytest.approx(expected * math.exp(x), rel=1e-12)


@pytest.mark.parametrize("x", [-30.0, -9.01, -8.99, -2.5, -0.4, 0.6, 0.99, 1.01, 5.0])
def test_airy_solves_its_equation(x):
    """y'' = x y, by differences of the sixth order."""
    step, stencil = 0.02, (2, -27, 270, -490, 270, -27, 2)
    values = [bessel.airy_ai_of(x + k * step) for k in range(-3, 4)]
    second = sum(c * v for c, v in zip(stencil, values)) / (180 * step**2)
    assert second == pytest.approx(x * bessel.airy_ai_of(x), rel=2e-6, abs=1e-9 * abs(x))


def test_airy_at_zero_and_its_integral():
    """Ai(0) is 3^(-2/3) / gamma(2/3), and Ai over x >= 0 integrates to 1/3."""
    assert bessel.airy_ai_of(0.0) == pytest.approx(3 ** (-2 / 3) / math.gamma(2 / 3), rel=1e-14)
    t, weights = np.polynomial.legendre.leggauss(100)
    assert np.sum(weights * [bessel.airy_ai_of(10 * (u + 1)) for u in t]) * 10 == pytest.approx(1 / 3, rel=1e-12)


@pytest.mark.parametrize("n", [3, 8])
def test_j0_vanishes_at_its_zeros(n):
    """They are near b = n pi - pi/4, by McMahon's expansion."""
    b = (n - 0.25) * math.pi
    zero = b + 1 / (8 * b) - 124 / (3 * (8 * b) ** 3) + 120928 / (15 * (8 * b) ** 5)
    assert abs(bessel.j0_of(zero)) < 1e-6 and abs(bessel.j0_of(b)) > 5e-4


def j0(x):
    return bessel.j0_of(x)


def airy(x):
    return bessel.airy_ai_of(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function, python", [(j0, bessel.j0_of), (airy, bessel.airy_ai_of)])
def test_the_compiled_form_equals_python(function, python, dtype):
    x = np.array([0.0, 1e-12, math.inf, -math.inf, math.nan, *np.linspace(-40, 40, 300)]).astype(dtype)
    expected = [python(float(value)) for value in x]
    rtol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(Pointwise(function)(x), expected, rtol=rtol, atol=rtol)
