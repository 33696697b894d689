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
        if q == -math.inf or q == math.floor(max(q, -1e300)):
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
    if not abs(x) < math.inf:
        return 0.0 if x > 0.0 else math.nan
    if x <= 0.0 and x == math.floor(max(x, -1e300)):
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


def infinite_bessel_of(x):
    """I0 and I1 where they overflow: infinity; NaN at infinity (as PyTorch, from infinity / infinity)."""
    return math.inf if abs(x) < math.inf else math.nan


def i0_of(x):
    """The modified Bessel function of order 0."""
    return bessel_of(abs(x), 0.0) if abs(x) < 1e4 else infinite_bessel_of(x)


def i1_of(x):
    """The modified Bessel function of order 1, the derivative of `i0_of`."""
    value = bessel_of(abs(x), 1.0) if abs(x) < 1e4 else infinite_bessel_of(abs(x))
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


# ---- the normal distribution, scaled and incomplete functions ----------------------------------------------
#
# Compiled code is given a float32 as such: np.float64 widens it.

def erfcx_of(x):
    """exp(x * x) * erfc(x): what is left of erfc where it underflows."""
    x = np.float64(x)
    if x < 0.0:
        return 2.0 * math.exp(x * x) - erfcx_of_positive(-x) if x > -26.7 else math.inf
    return erfcx_of_positive(x) if x == x else x


def erfcx_of_positive(x):
    """The product below 10, from there the asymptotic series (Abramowitz and Stegun 7.1.23)."""
    if x < 10.0:
        return math.exp(x * x) * math.erfc(x)
    t = 1.0 / (2.0 * x * x)
    series = 1.0
    for k in range(15, 0, -2):
        series = 1.0 - k * t * series
    return series * 0.5641895835477563 / x          # 1 / sqrt(pi)


def log_ndtr_of(x):
    """The logarithm of the chance that a normal number is below x."""
    x = np.float64(x)
    if x < -1.0:
        return math.log(erfcx_of_positive(-x * 0.7071067811865476) / 2.0) - x * x / 2.0 if x > -1e150 else -math.inf
    return math.log1p(-math.erfc(x * 0.7071067811865476) / 2.0)


def ndtri_of(p):
    """The inverse of the normal distribution function: a start from the logarithm, then Halley's steps on erfc."""
    p = np.float64(p)
    if not 0.0 < p < 1.0:
        return -math.inf if p == 0.0 else math.inf if p == 1.0 else math.nan
    q = min(p, 1.0 - p)
    r = math.sqrt(-2.0 * math.log(q))
    x = (2.515517 + r * (0.802853 + r * 0.010328)) / (1.0 + r * (1.432788 + r * (0.189269 + r * 0.001308))) - r
    for _ in range(3):                               # Abramowitz and Stegun 26.2.23 was right to 4.5e-4
        error = 0.5 * math.erfc(-x * 0.7071067811865476) - q
        step = error * 2.5066282746310002 * math.exp(0.5 * x * x)
        x -= step / (1.0 + 0.5 * x * step)
    return x if p <= 0.5 else -x


def bessel_scaled_of(x, order):
    """exp(-x) times the modified Bessel function I0 or I1, for x >= 0."""
    if x < 30.0:
        return math.exp(-x) * bessel_of(x, order)
    if x == math.inf:
        return 0.0
    total, term, k = 1.0, 1.0, 0.0
    while abs(term) > 1e-17 and k < 40.0:
        k += 1.0
        term *= ((2.0 * k - 1.0) ** 2 - 4.0 * order) / (8.0 * k * x)
        total += term
    return total / math.sqrt(2.0 * math.pi * x)


def i0e_of(x):
    return x if x != x else bessel_scaled_of(abs(np.float64(x)), 0.0)


def i1e_of(x):
    value = x if x != x else bessel_scaled_of(abs(np.float64(x)), 1.0)
    return -value if x < 0.0 else value


def igamma_of(a, x):
    """The lower incomplete gamma function P(a, x), regularised."""
    return incomplete_gamma(np.float64(a), np.float64(x), 1.0)


def igammac_of(a, x):
    """The upper one, Q(a, x) = 1 - P(a, x)."""
    return incomplete_gamma(np.float64(a), np.float64(x), 0.0)


def incomplete_gamma(a, x, lower):
    """P if `lower` is 1, Q if it is 0; the borders in PyTorch's order, which decides what a NaN gives."""
    if x < 0.0 or a < 0.0 or a == 0.0 and not x > 0.0 or a == math.inf and x == math.inf:
        return math.nan
    if a == 0.0:
        return lower
    if x == 0.0 or a == math.inf:
        return 1.0 - lower
    if x == math.inf:
        return lower
    if x < a + 1.0:
        p = gamma_series(a, x)
        return p if lower == 1.0 else 1.0 - p
    q = gamma_fraction(a, x)
    return q if lower == 0.0 else 1.0 - q


def gamma_series(a, x):
    """P by its power series (Abramowitz and Stegun 6.5.29)."""
    term = total = 1.0 / a
    n = a
    while abs(term) > 1e-17 * abs(total) and n < a + 20000.0:
        n += 1.0
        term *= x / n
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


def gamma_fraction(a, x):
    """Q by its continued fraction (6.5.31), evaluated by Lentz's method."""
    b = x + 1.0 - a
    c, d = 1e300, 1.0 / b
    h, n, change = d, 0.0, 0.0
    while abs(change - 1.0) > 1e-16 and n < 20000.0:
        n += 1.0
        factor = -n * (n - a)
        b += 2.0
        d = 1.0 / (factor * d + b)
        c = b + factor / c
        change = d * c
        h *= change
    return h * math.exp(a * math.log(x) - x - math.lgamma(a))


erfcx = PerDtype(erfcx_of, erfcx_of)
log_ndtr = PerDtype(log_ndtr_of, log_ndtr_of)
ndtri = PerDtype(ndtri_of, ndtri_of)
i0e = PerDtype(i0e_of, i0e_of)
i1e = PerDtype(i1e_of, i1e_of)
zeta = PerDtype(zeta_of, zeta_of)
igamma = PerDtype(igamma_of, igamma_of)
igammac = PerDtype(igammac_of, igammac_of)
