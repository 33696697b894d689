"""Special functions of one element that NumPy has not: gamma functions, Bessel functions, the inverse of erf.

Plain Python, in float64 throughout: Numba compiles the sources for large arrays, `each` calls them one by one
for small ones. Formulas: Abramowitz and Stegun, Handbook of Mathematical Functions, chapters 6, 7, 9 and 23.
"""
import math

import numpy as np

from .scalar import PerDtype

TWO_OVER_SQRT_PI = 1.1283791670955126


def each(function):
    """A function of arrays that calls a Python function of one number for each element, in float64."""
    ufunc = np.frompyfunc(function, 1, 1)

    def compute(x):
        return np.asarray(ufunc(x.astype(np.float64, copy=False)), dtype=np.float64).astype(x.dtype)
    return compute


def lgamma_of(x):
    """The logarithm of |gamma(x)|; infinite at the poles 0, -1, -2, ..."""
    if x <= 0.0 and not x - math.floor(max(x, -1e300)) > 0.0:
        return math.inf
    if x > 2.5e305:
        return math.inf
    return math.lgamma(x)


def digamma_of(x):
    """The derivative of lgamma; NaN at negative poles, -inf at 0 (+inf at -0.0)."""
    if x == 0.0:
        return -math.copysign(math.inf, x)
    if x < 0.0 and x == math.floor(max(x, -1e300)) or x == -math.inf:
        return math.nan
    shift = 0.0
    if x < 0.0:                                  # reflection: psi(1 - x) - psi(x) = pi / tan(pi x)
        shift = -math.pi / math.tan(math.pi * (x - math.floor(x)))
        x = 1.0 - x
    while x < 12.0:
        shift -= 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12)))))
    )
    return shift + math.log(x) - 0.5 / x - series


def zeta_of(s, q):
    """Hurwitz' zeta function, the sum of (q + k) ** -s over k = 0, 1, ...: Euler and Maclaurin's formula."""
    if s == 1.0:
        return math.inf
    if not s > 1.0:
        return math.nan
    if q <= 0.0:
        if q == math.floor(q):
            return math.inf
        if s != math.floor(s):
            return math.nan
    total = 0.0
    steps = 0
    while q < 10.0 or steps < 10:
        total += q ** -s
        q += 1.0
        steps += 1
    power = q ** -s
    total += power * q / (s - 1.0) + 0.5 * power
    factor = s * power / q
    total += factor / 12
    factor *= (s + 1.0) * (s + 2.0) / (q * q)
    total -= factor / 720
    factor *= (s + 3.0) * (s + 4.0) / (q * q)
    total += factor / 30240
    factor *= (s + 5.0) * (s + 6.0) / (q * q)
    total -= factor / 1209600
    factor *= (s + 7.0) * (s + 8.0) / (q * q)
    total += factor / 47900160
    factor *= (s + 9.0) * (s + 10.0) / (q * q)
    return total - factor * 691 / 1307674368000


def trigamma_of(x):
    """The second derivative of lgamma."""
    if x == math.floor(min(max(x, -1e300), 1e300)) and x <= 0.0:
        return math.inf
    if x < 0.5:                                  # reflection: psi1(1 - x) + psi1(x) = (pi / sin(pi x)) ** 2
        sine = math.sin(math.pi * (x - math.floor(x)))
        return (math.pi / sine) ** 2 - zeta_of(2.0, 1.0 - x)
    return zeta_of(2.0, x)


def bessel_of(x, order):
    """The modified Bessel function I0 or I1 for x >= 0: a power series, past 30 the asymptotic one."""
    total, term, k = 1.0, 1.0, 0.0
    if x < 30.0:
        while term > 1e-17 * total:
            k += 1.0
            term *= 0.25 * x * x / (k * (k + order))
            total += term
        return total if order == 0.0 else 0.5 * x * total
    while abs(term) > 1e-17 and k < 40.0:
        k += 1.0
        term *= ((2.0 * k - 1.0) ** 2 - 4.0 * order) / (8.0 * k * x)
        total += term
    half = np.exp(0.5 * x)  # in two factors, since exp(x) overflows before the result does
    return half * (half * (total / math.sqrt(2.0 * math.pi * x)))


def i0_of(x):
    """The modified Bessel function of order 0."""
    return x if x != x else bessel_of(abs(x), 0.0) if abs(x) < 1e4 else math.inf


def i1_of(x):
    """The modified Bessel function of order 1, the derivative of `i0_of`."""
    value = x if x != x else bessel_of(abs(x), 1.0) if abs(x) < 1e4 else math.inf
    return -value if x < 0.0 else value


def erfinv_of(y):
    """The inverse of erf: a rough start, then Halley's steps on erfc, which keeps its digits near 1."""
    a = abs(y)
    if not a < 1.0:
        return math.copysign(math.inf, y) if a == 1.0 else math.nan
    if a < 1e-9:
        return y / TWO_OVER_SQRT_PI
    w = math.log1p(-a * a)
    b = 4.33 + 0.5 * w                           # Winitzki's approximation, right to 0.002
    x = math.sqrt(math.sqrt(b * b - w / 0.147) - b)
    for _ in range(3):
        error = math.erf(x) - a if a < 0.5 else (1.0 - a) - math.erfc(x)
        step = error / (TWO_OVER_SQRT_PI * math.exp(-x * x))
        x -= step / (1.0 + x * step)
    return math.copysign(x, y)


# What one-element functions of operators call: the same float64 source for both dtypes.
lgamma = PerDtype(lgamma_of, lgamma_of)
digamma = PerDtype(digamma_of, digamma_of)
trigamma = PerDtype(trigamma_of, trigamma_of)
i0 = PerDtype(i0_of, i0_of)
i1 = PerDtype(i1_of, i1_of)
erfinv = PerDtype(erfinv_of, erfinv_of)
