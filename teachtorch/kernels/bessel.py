"""Bessel functions of one element, and Airy's, which is one of order 1/3.

Plain Python, in float64 as in special.py. The numbers in the comments are formulas of Abramowitz and Stegun, Handbook
of Mathematical Functions, chapters 9 and 10. In a float32 kernel the constants are float32, so they stay in its range.

PyTorch 2.13's results differ: its J and Y are wrong by up to 8e-7 for arguments between 3 and 13, and Ai by up to 3e-6
between -3.2 and -2. Those here are right to about 1e-14.
"""
import math

import numpy as np

EULER = 0.5772156649015329
TWO_OVER_PI = 0.6366197723675814
SQRT_TWO_OVER_PI = 0.7978845608028654
SQRT_HALF = 0.7071067811865476

SMALL = 1e-8        # below it the first term of each series is the function
FAR = 25.0          # from there the asymptotic series are exact to the last digits


# ---- J and Y: real arguments ------------------------------------------------------------------------------------

def recurred(x, order, is_second):
    """J or Y (`is_second`) of order 0 or 1, for x up to FAR: Miller's algorithm.

    J_k by its recurrence (9.1.27) from a k far above x downwards, where it is stable, but for a factor that the sum
    J0 + 2 J2 + 2 J4 + ... = 1 (9.1.46) tells; Y0 is a sum of them (9.1.89), and Y1 the derivative of -Y0.
    """
    above, here, norm, series = 0.0, 1e-30, 0.0, 0.0
    k = 18.0 + 2.0 * math.floor(x)
    while k > 0.0:
        below = 2.0 * k / x * here - above
        if k % 2.0 == 0.0:
            norm += 2.0 * here
            term = (4.0 * here if order == 0.0 else 2.0 * (above - below)) / k
            series -= term if k % 4.0 == 0.0 else -term
        above, here = here, below
        k -= 1.0
    norm += here
    j = here if order == 0.0 else above
    if not is_second:
        return j / norm
    pole = 0.0 if order == 0.0 else here / x
    return TWO_OVER_PI * ((math.log(0.5 * x) + EULER) * j + series - pole) / norm


def wave(x, mu, cosine, sine):
    """P cosine - Q sine with Hankel's asymptotic series P and Q (9.2.9, 9.2.10), for mu = 4 order**2."""
    p, q, term, k = 1.0, 0.0, 1.0, 0.0
    while abs(term) > 1e-17 and k < 40.0:
        k += 1.0
        term *= (mu - (2.0 * k - 1.0) ** 2) / (8.0 * k * x)
        if k % 2.0 == 1.0:
            q += term if k % 4.0 == 1.0 else -term
        else:
            p += term if k % 4.0 == 0.0 else -term
    return p * cosine - q * sine


def far(x, order, is_second):
    """J or Y from FAR on (9.2.5, 9.2.6); the sine and cosine of x - pi/4 and x - 3 pi/4 made from those of x."""
    total, difference = SQRT_HALF * (math.sin(x) + math.cos(x)), SQRT_HALF * (math.sin(x) - math.cos(x))
    cosine, sine = (total, difference) if order == 0.0 else (difference, -total)
    amplitude = SQRT_TWO_OVER_PI / math.sqrt(x)
    if is_second:
        cosine, sine = sine, -cosine
    return amplitude * wave(x, 4.0 * order, cosine, sine)


def j0_of(x):
    """The Bessel function of the first kind of order 0; NaN at infinity (as PyTorch's)."""
    a = abs(np.float64(x))
    if not a < math.inf:
        return math.nan
    if a < SMALL:
        return 1.0
    return recurred(a, 0.0, False) if a < FAR else far(a, 0.0, False)


def j1_of(x):
    """The Bessel function of the first kind of order 1."""
    a = abs(np.float64(x))
    if not a < math.inf:
        return math.nan
    if a < SMALL:
        return 0.5 * x
    found = recurred(a, 1.0, False) if a < FAR else far(a, 1.0, False)
    return -found if x < 0.0 else found


def y0_of(x):
    """The Bessel function of the second kind of order 0; NaN below 0."""
    x = np.float64(x)
    if not 0.0 < x < math.inf:
        return -math.inf if x == 0.0 else math.nan
    if x < SMALL:
        return TWO_OVER_PI * (math.log(0.5 * x) + EULER)
    return recurred(x, 0.0, True) if x < FAR else far(x, 0.0, True)


def y1_of(x):
    """The Bessel function of the second kind of order 1; NaN below 0."""
    x = np.float64(x)
    if not 0.0 < x < math.inf:
        return -math.inf if x == 0.0 else math.nan
    if x < SMALL:
        return -TWO_OVER_PI / x
    return recurred(x, 1.0, True) if x < FAR else far(x, 1.0, True)


def spherical_j0_of(x):
    """The spherical Bessel function of order 0, sin(x) / x."""
    if abs(x) == math.inf:
        return 0.0
    return 1.0 if abs(x) < SMALL else math.sin(x) / x


# ---- K: imaginary arguments --------------------------------------------------------------------------------------

def k_scaled(x, order):
    """exp(x) times K, for x >= SMALL: its integral, of exp(-x cosh t) cosh(order t) over t >= 0 (9.6.24).

    The trapezoid rule is exact to the last digits where the function and its derivatives vanish at the ends.
    """
    step = 0.25 if x < 6.0 else 0.6 / math.sqrt(x)
    total, term, t = 0.5, 1.0, 0.0
    while term > 1e-17 * total:
        t += step
        half = math.sinh(0.5 * t)
        term = math.exp(-2.0 * x * half * half) * math.cosh(order * t)     # cosh(t) - 1 = 2 sinh(t / 2)**2
        total += term
    return step * total


def k0e_of(x):
    """exp(x) times the modified Bessel function of the second kind of order 0."""
    x = np.float64(x)
    if not 0.0 < x < math.inf:
        return math.inf if x == 0.0 else 0.0 if x > 0.0 else math.nan
    return (1.0 + x) * (-math.log(0.5 * x) - EULER) if x < SMALL else k_scaled(x, 0.0)


def k1e_of(x):
    """exp(x) times the modified Bessel function of the second kind of order 1."""
    x = np.float64(x)
    if not 0.0 < x < math.inf:
        return math.inf if x == 0.0 else 0.0 if x > 0.0 else math.nan
    return (1.0 + x) / x if x < SMALL else k_scaled(x, 1.0)


def k0_of(x):
    """The modified Bessel function of the second kind of order 0; NaN below 0."""
    scaled = k0e_of(x)
    return math.exp(-x) * scaled if x > 0.0 else scaled


def k1_of(x):
    """The modified Bessel function of the second kind of order 1; NaN below 0."""
    scaled = k1e_of(x)
    return math.exp(-x) * scaled if x > 0.0 else scaled


# ---- Airy --------------------------------------------------------------------------------------------------------

def airy_ai_of(x):
    """Airy's function Ai; NaN at infinity (as PyTorch's)."""
    x = np.float64(x)
    if not abs(x) < math.inf:
        return math.nan
    if -9.0 < x < 1.0:
        return airy_from_zero(x)
    a = abs(x)
    zeta = a * math.sqrt(a) * 2.0 / 3.0
    if x > 0.0:                                             # 10.4.14
        return math.exp(-zeta) * k_scaled(zeta, 1.0 / 3.0) * math.sqrt(a / 3.0) / math.pi
    total, difference = SQRT_HALF * (math.sin(zeta) + math.cos(zeta)), SQRT_HALF * (math.sin(zeta) - math.cos(zeta))
    return wave(zeta, 4.0 / 9.0, total, difference) / math.sqrt(math.pi * math.sqrt(a))     # 10.4.60


def airy_from_zero(x):
    """Ai by Taylor steps of its equation y'' = x y, from 0 (10.4.4, 10.4.5), each at most 1 long."""
    value, slope, start = 0.3550280538878172, -0.2588194037928068, np.float64(0.0)
    while start != x:
        step = min(max(x - start, -1.0), 1.0)
        before, here, after = 0.0, value, slope * step      # terms n - 1, n and n + 1 of the series, n = 0
        value, slope, n = here + after, after, 0.0
        while n < 30.0:
            term = step * step * (start * here + step * before) / ((n + 1.0) * (n + 2.0))
            value, slope = value + term, slope + (n + 2.0) * term
            before, here, after, n = here, after, term, n + 1.0
        slope /= step
        start = x if abs(x - start) <= 1.0 else start + step
    return value
