"""Orthogonal polynomials of one element, by their recurrences upwards in the degree (Abramowitz and Stegun,
Handbook of Mathematical Functions, 22.7).

The degree is what is left of `n` without its fraction; of a degree below 0 all polynomials are 0, as in PyTorch. In
float64 throughout, so that of float32 less overflows than in PyTorch.
"""
import math

import numpy as np

TRIGONOMETRIC = 8.0         # Chebyshev's polynomials above this degree are sines and cosines between -1 and 1


def degree_of(n):
    """The degree as a whole number; one that is not finite is none."""
    n = np.float64(n)
    return np.float64(math.trunc(n)) if abs(n) < 1e18 else np.float64(-1.0)


# ---- Chebyshev ---------------------------------------------------------------------------------------------------

def chebyshev(x, degree, first):
    """The polynomial that begins with 1 and `first` and goes on by p' = 2 x p - p before (22.7.4 to 22.7.6)."""
    if degree < 1.0:
        return 1.0 if degree == 0.0 else 0.0
    before, here, k = 1.0, first, 1.0
    while k < degree and here == here:
        before, here, k = here, 2.0 * x * here - before, k + 1.0
    return here


def is_trigonometric(x, degree):
    return degree > TRIGONOMETRIC and abs(x) < 1.0


def chebyshev_t_of(x, n):
    """Of the first kind: cos(n t) for x = cos(t)."""
    x, degree = np.float64(x), degree_of(n)
    if is_trigonometric(x, degree):
        return math.cos(degree * math.acos(x))
    return chebyshev(x, degree, x)


def chebyshev_u_of(x, n):
    """Of the second kind: sin((n + 1) t) / sin(t) for x = cos(t)."""
    x, degree = np.float64(x), degree_of(n)
    if is_trigonometric(x, degree):
        return math.sin((degree + 1.0) * math.acos(x)) / math.sqrt((1.0 - x) * (1.0 + x))
    return chebyshev(x, degree, 2.0 * x)


def chebyshev_v_of(x, n):
    """Of the third kind: cos((n + 1/2) t) / cos(t / 2) for x = cos(t)."""
    x, degree = np.float64(x), degree_of(n)
    if is_trigonometric(x, degree):
        return math.cos((degree + 0.5) * math.acos(x)) / math.sqrt(0.5 * (1.0 + x))
    return chebyshev(x, degree, 2.0 * x - 1.0)


def chebyshev_w_of(x, n):
    """Of the fourth kind: sin((n + 1/2) t) / sin(t / 2) for x = cos(t)."""
    x, degree = np.float64(x), degree_of(n)
    if is_trigonometric(x, degree):
        return math.sin((degree + 0.5) * math.acos(x)) / math.sqrt(0.5 * (1.0 - x))
    return chebyshev(x, degree, 2.0 * x + 1.0)


def shifted_chebyshev_t_of(x, n):
    """That of the first kind of 2 x - 1: at home between 0 and 1."""
    return chebyshev_t_of(2.0 * np.float64(x) - 1.0, n)


def shifted_chebyshev_u_of(x, n):
    """That of the second kind of 2 x - 1."""
    return chebyshev_u_of(2.0 * np.float64(x) - 1.0, n)


def shifted_chebyshev_v_of(x, n):
    """That of the third kind of 2 x - 1."""
    return chebyshev_v_of(2.0 * np.float64(x) - 1.0, n)


def shifted_chebyshev_w_of(x, n):
    """That of the fourth kind of 2 x - 1."""
    return chebyshev_w_of(2.0 * np.float64(x) - 1.0, n)


# ---- Hermite, Laguerre, Legendre ---------------------------------------------------------------------------------

def hermite(x, degree, scale):
    """Physicists' polynomial for a scale of 2, probabilists' for 1: p' = scale (x p - k p before) (22.7.13, 22.7.14).

    NaN above degree 512, as in PyTorch.
    """
    if degree < 1.0:
        return 1.0 if degree == 0.0 else 0.0
    if degree > 512.0:
        return math.nan
    before, here, k = 1.0, scale * x, 1.0
    while k < degree:
        before, here, k = here, scale * (x * here - k * before), k + 1.0
    return here


def hermite_h_of(x, n):
    """Hermite's polynomial H of the physicists, orthogonal under exp(-x**2)."""
    return hermite(np.float64(x), degree_of(n), 2.0)


def hermite_he_of(x, n):
    """Hermite's polynomial He of the probabilists, orthogonal under exp(-x**2 / 2)."""
    return hermite(np.float64(x), degree_of(n), 1.0)


def laguerre_l_of(x, n):
    """Laguerre's polynomial, orthogonal under exp(-x) (22.7.12)."""
    x, degree = np.float64(x), degree_of(n)
    if degree < 1.0 or x == 0.0:
        return 0.0 if degree < 0.0 else 1.0
    before, here, k = 1.0, 1.0 - x, 1.0
    while k < degree and here == here:
        before, here, k = here, ((2.0 * k + 1.0 - x) * here - k * before) / (k + 1.0), k + 1.0
    return here


def legendre_p_of(x, n):
    """Legendre's polynomial, orthogonal from -1 to 1 (22.7.10)."""
    x, degree = np.float64(x), degree_of(n)
    if degree < 1.0:
        return 1.0 if degree == 0.0 else 0.0
    before, here, k = 1.0, x, 1.0
    while k < degree and here == here:
        before, here, k = here, ((2.0 * k + 1.0) * x * here - k * before) / (k + 1.0), k + 1.0
    return here
