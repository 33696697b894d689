"""Box-Muller: normal numbers out of uniform ones, sixteen at a time, to the last bit as PyTorch makes them.

PyTorch's float32 code for AVX2 takes its log, sin and cos from S. Moshier's Cephes library and is compiled to
fused multiply-adds. Both are reproduced here with +, * and sqrt alone, so the numbers are the same on every
machine. In float64 it calls the C library, whose last bit may differ from NumPy's.

The functions of arrays below are for small arrays and for float64; `_LOOP` says the same for one element of a large
float32 array, operation by operation.
Source: G. Box, M. Muller, A Note on the Generation of Random Normal Deviates (1958); Cephes logf.c, sinf.c.
"""
import functools

import numpy as np

from .cache import load_module

BLOCK = 16
SMALL = 1 << 13         # numbers that NumPy makes sooner than a compiled loop is loaded
_CHUNK = 1024 * BLOCK   # elements treated at once: the temporaries stay in the L2 cache


def fused_multiply_add(x, y, z):
    """x * y + z rounded once, as the compilers of PyTorch's kernels make it on every CPU with FMA.

    `x` is a float32 array, `y` and `z` are arrays or numbers of that dtype; or `x` is a float64 array and
    they are numbers.
    """
    if x.dtype == np.float64:
        return _fused_multiply_add_double(x, y, z)
    total = np.multiply(x, y, dtype=np.float64)   # exact: 24 + 24 bits fit in 53
    total += z
    return total.astype(np.float32)


_LARGEST_TO_SPLIT = 1e299   # a larger number would overflow in _split


def _fused_multiply_add_double(x, y, z):
    if z == 0 or abs(y) > _LARGEST_TO_SPLIT:
        return x * y + z
    product = x * y
    product_error = _product_error(x, y, product)
    total = product + z
    virtual_z = total - product
    sum_error = (product - (total - virtual_z)) + (z - virtual_z)
    return total + (product_error + sum_error)


def _product_error(x, y, product):
    """x * y - product without error (T. J. Dekker, 1971)."""
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _split(x):
    scaled = x * 134217729.0   # 2**27 + 1 cuts 53 bits into 26 and 26
    high = scaled - (scaled - x)
    return high, x - high


def box_muller(uniforms, mean, std):
    """Normals from uniforms in [0, 1): of a block, elements 0-7 give the radius, elements 8-15 the angle.

    Args: `uniforms`, float32 or float64 of shape (n,), n a multiple of 16. Returns an array like it.
    """
    if uniforms.dtype == np.float32 and len(uniforms) > SMALL:
        normals = np.empty_like(uniforms)
        _loop()(uniforms, normals, np.float64(np.float32(mean)), np.float64(np.float32(std)))
        return normals
    chunks = [_box_muller_chunk(uniforms[start:start + _CHUNK], mean, std)
              for start in range(0, len(uniforms), _CHUNK)]
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


def _box_muller_chunk(uniforms, mean, std):
    blocks = uniforms.reshape(-1, 2, BLOCK // 2)
    number = uniforms.dtype.type
    distance = (number(1) - blocks[:, 0]).reshape(-1)   # [0, 1) -> (0, 1], for the logarithm
    angle = (number(2 * np.pi) * blocks[:, 1]).reshape(-1)
    if number is np.float32:
        log, (sine, cosine) = _log32(distance), _sine_and_cosine32(angle)
    else:
        log, sine, cosine = np.log(distance), np.sin(angle), np.cos(angle)
    radius = np.sqrt(number(-2) * log)
    normals = np.empty_like(blocks)
    normals[:, 0] = (radius * cosine).reshape(-1, BLOCK // 2)
    normals[:, 1] = (radius * sine).reshape(-1, BLOCK // 2)
    return fused_multiply_add(normals.reshape(-1), number(std), number(mean))


# Moshier's single precision coefficients (Cephes logf.c, sinf.c), the highest power first.
_LOG = [7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1]
_SINE = [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]
_COSINE = [2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2]
_LOG_2 = [-2.12194440e-4, 0.693359375]                     # log(2) in two parts, the small one first
_MINUS_QUARTER_PI = [-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8]
_SQRT_HALF = np.float32(0.707106781186547524)


def _horner(coefficients, x):
    wide_x = x.astype(np.float64)
    value = np.float32(coefficients[0])
    for coefficient in coefficients[1:]:
        value = (value * wide_x + np.float64(np.float32(coefficient))).astype(np.float32)
    return value


def _log32(x):
    """The logarithm of float32 in (0, 1], with the operations and roundings of PyTorch's AVX2 code."""
    bits = x.view(np.int32)
    exponent = (bits >> 23) - 126
    fraction = ((bits & 0x7FFFFF) | 0x3F000000).view(np.float32)   # in [0.5, 1)
    is_small = (fraction < _SQRT_HALF)
    x = (fraction - np.float32(1)) + fraction * is_small           # in [sqrt(1/2) - 1, sqrt(2) - 1)
    exponent = (exponent - is_small).astype(np.float32)
    square = x * x
    tail = fused_multiply_add(_horner(_LOG, x) * x, square, exponent * np.float32(_LOG_2[0]))
    tail -= square * np.float32(0.5)
    return fused_multiply_add(exponent, np.float32(_LOG_2[1]), x + tail)


def _sine_and_cosine32(angle):
    """sin and cos of float32 angles >= 0, with the operations and roundings of PyTorch's AVX2 code."""
    octant = ((angle * np.float32(4 / np.pi)).astype(np.int32) + 1) & ~1
    count = octant.astype(np.float32)
    for part in _MINUS_QUARTER_PI:
        angle = fused_multiply_add(count, np.float32(part), angle)   # what is left lies in [-pi/4, pi/4]
    square = angle * angle
    cosine = fused_multiply_add(_horner(_COSINE, square) * square, square, square * np.float32(-0.5))
    cosine += np.float32(1)
    sine = fused_multiply_add(_horner(_SINE, square) * square, angle, angle)
    is_swapped = (octant & 2).astype(bool)
    sine_sign = 1 - ((octant & 4) >> 1)
    cosine_sign = (((octant - 2) & 4) >> 1) - 1
    return (np.where(is_swapped, cosine, sine) * sine_sign.astype(np.float32),
            np.where(is_swapped, sine, cosine) * cosine_sign.astype(np.float32))


# ---- one element, compiled ---------------------------------------------------------------------------------------

_LOOP = '''"""Box-Muller of float32, one pair at a time."""
from numba import njit, types
import numpy as np

ONE, HALF = np.float32(1), np.float32(0.5)
LINE = 512
SQRT_HALF, TWO_PI, FOUR_BY_PI = np.float32(0.707106781186547524), np.float32({two_pi!r}), np.float32({four_by_pi!r})


@njit
def fused(x, y, z):
    """x * y + z, rounded once: the product of two float32 is exact in float64."""
    return np.float32(np.float64(x) * np.float64(y) + np.float64(z))


@njit
def log(x):
    bits = np.float32(x).view(np.int32)
    exponent = (bits >> np.int32(23)) - np.int32(126)
    fraction = np.int32((bits & np.int32(0x7FFFFF)) | np.int32(0x3F000000)).view(np.float32)
    is_small = fraction < SQRT_HALF
    x = (fraction - ONE) + (fraction if is_small else np.float32(0))
    exponent = np.float32(exponent - np.int32(1) if is_small else exponent)
    square = np.float32(x * x)
    tail = {log}
    tail = fused(np.float32(tail * x), square, np.float32(exponent * np.float32({log_2_low!r})))
    tail = np.float32(tail - np.float32(square * HALF))
    return fused(exponent, np.float32({log_2!r}), np.float32(x + tail))


@njit
def sine_and_cosine(angle):
    octant = (np.int32(np.float32(angle * FOUR_BY_PI)) + np.int32(1)) & np.int32(-2)
    count = np.float32(octant)
    x = {reduced}
    square = np.float32(x * x)
    cosine = {cosine}
    cosine = fused(np.float32(cosine * square), square, np.float32(square * np.float32(-0.5)))
    cosine = np.float32(cosine + ONE)
    sine = {sine}
    sine = fused(np.float32(sine * square), x, x)
    is_swapped = octant & np.int32(2) != 0
    first = cosine if is_swapped else sine
    second = sine if is_swapped else cosine
    first = -first if octant & np.int32(4) else first
    second = second if (octant - np.int32(2)) & np.int32(4) else -second
    return first, second


@njit(types.void(types.float32[::1], types.float32[::1], types.float64, types.float64), cache=True, nogil=True)
def kernel(uniforms, normals, mean, std):
    radii, angles = np.empty(LINE, np.float32), np.empty(LINE, np.float32)
    pairs = uniforms.size // 2
    for first in range(0, pairs, LINE):  # pairs side by side, as vectors need them
        count = min(LINE, pairs - first)
        for k in range(count):
            place = (first + k) // {half} * {block} + k % {half}
            radii[k], angles[k] = uniforms[place], uniforms[place + {half}]
        for k in range(count):
            radius = np.sqrt(np.float32(np.float32(-2) * log(ONE - radii[k])))
            sine, cosine = sine_and_cosine(np.float32(TWO_PI * angles[k]))
            radii[k] = fused(np.float32(radius * cosine), std, mean)
            angles[k] = fused(np.float32(radius * sine), std, mean)
        for k in range(count):
            place = (first + k) // {half} * {block} + k % {half}
            normals[place], normals[place + {half}] = radii[k], angles[k]
'''


@functools.lru_cache(maxsize=None)
def _loop():
    reduced = "angle"
    for part in _MINUS_QUARTER_PI:
        reduced = f"fused(count, np.float32({part!r}), {reduced})"
    text = _LOOP.format(two_pi=2 * np.pi, four_by_pi=4 / np.pi, log_2_low=_LOG_2[0], log_2=_LOG_2[1], reduced=reduced,
                        log=_nested(_LOG, "x"), cosine=_nested(_COSINE, "square"), sine=_nested(_SINE, "square"),
                        block=BLOCK, half=BLOCK // 2)
    return load_module("box_muller", text).kernel


def _nested(coefficients, x):
    """The text of `_horner`."""
    text = f"np.float32({coefficients[0]!r})"
    for coefficient in coefficients[1:]:
        text = f"fused({text}, {x}, np.float32({coefficient!r}))"
    return text
