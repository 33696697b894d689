"""Random counts: Poisson and binomial draws, with PyTorch's CPU streams.

Small expectations multiply uniform numbers, or add up geometric ones; large ones use transformed rejection with squeeze
(Hörmann 1993), as aten/src/ATen/native/Distributions.cpp does. Each element draws in turn, as many numbers as it needs.
"""
import math

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from .declare import operator, publish
from .fake import Fake
from .pointwise import no_gradient
from .generators import stream_of

STIRLING_TAILS = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                  0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)


# ---- one draw; `uniform()` gives the next number in [0, 1) ------------------------------------------------------

def poisson_draw(uniform, rate):
    if rate == 0:
        return 0
    if rate >= 10:
        return poisson_by_rejection(uniform, rate)
    least, product, count = math.exp(-rate), uniform(), 0
    while product > least:
        product *= uniform()
        count += 1
    return count


def poisson_by_rejection(uniform, rate):
    root = math.sqrt(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    squeeze = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform() - 0.5, uniform()
        rest = 0.5 - abs(u)
        count = math.floor((2 * a / rest + b) * u + rate + 0.43)
        if rest >= 0.07 and v <= squeeze:
            return count
        if count < 0 or rest < 0.013 and v > rest:
            continue
        bound = -rate + count * math.log(rate) - math.lgamma(count + 1)
        if math.log(v) + log_inverse_alpha - math.log(a / (rest * rest) + b) <= bound:
            return count


def binomial_draw(uniform, count, probability):
    if not (count > 0 and probability > 0):
        return 0 if count <= 0 or probability <= 0 else math.nan
    if probability >= 1:
        return count
    if probability > 0.5:
        return count - binomial_draw(uniform, count, 1 - probability)
    chosen = binomial_by_rejection if count * probability >= 10 else binomial_by_gaps
    return chosen(uniform, count, probability)


def binomial_by_gaps(uniform, count, probability):
    """How many geometric gaps fit into `count` trials."""
    scale, reached, found = math.log1p(-probability), 0, 0
    while True:
        reached += math.ceil(math.log(uniform()) / scale)
        if reached > count:
            return found
        found += 1


def binomial_by_rejection(uniform, count, probability):
    deviation = math.sqrt(count * probability * (1 - probability))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * probability
    squeeze, odds = 0.92 - 4.2 / b, probability / (1 - probability)
    alpha, mode = (2.83 + 5.1 / b) * deviation, math.floor((count + 1) * probability)
    while True:
        u, v = uniform() - 0.5, uniform()
        rest = 0.5 - abs(u)
        k = math.floor((2 * a / rest + b) * u + count * probability + 0.5)
        if rest >= 0.07 and v <= squeeze:
            return k
        if 0 <= k <= count and math.log(v * alpha / (a / (rest * rest) + b)) <= log_ratio(k, mode, count, odds):
            return k


def log_ratio(k, mode, count, odds):
    """The logarithm of the probability of k, relative to that of the mode."""
    return ((mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + stirling_tail(mode) + stirling_tail(count - mode) - stirling_tail(k) - stirling_tail(count - k))


def stirling_tail(k):
    """What Stirling's formula for log k! leaves out."""
    if k <= 9:
        return STIRLING_TAILS[int(k)]
    square = (k + 1) ** 2
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


# ---- the operators ----------------------------------------------------------------------------------------------

def each(draw, generator, dtype, *arrays):
    """An array of one draw per element of the broadcast arrays."""
    stream = stream_of(generator)
    arrays = np.broadcast_arrays(*arrays)
    found = np.empty(arrays[0].shape, np.float64)
    flat = [a.reshape(-1).astype(np.float64).tolist() for a in arrays]
    found.reshape(-1)[:] = [draw(lambda: float(stream._unit_doubles(1)[0]), *values) for values in zip(*flat)]
    return found.astype(dtype)


def refuse_integers(name, dtype):
    if not dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type_name(dtype)}'")


def fake_poisson(self, generator=None):
    refuse_integers("poisson_cpu", self._dtype)
    return Fake(self._shape, self._dtype)


def fake_binomial(count, prob, generator=None):
    refuse_integers("binomial_cpu", count._dtype)
    if prob._dtype is not count._dtype:
        raise RuntimeError(f"Found dtype {scalar_type_name(prob._dtype)} but expected {scalar_type_name(count._dtype)}")
    return Fake(geometry.broadcast_shapes(count._shape, prob._shape), count._dtype)


@operator("poisson", vjp={"self": no_gradient}, spaces=(), out=False, fake=fake_poisson)
def poisson_kernel(self, generator):
    """Counts whose expectations are the elements."""
    refuse_integers("poisson_cpu", dt.from_numpy(self.dtype))
    if (self < 0).any():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return each(poisson_draw, generator, self.dtype, self)


@operator("binomial", vjp={"count": no_gradient, "prob": no_gradient}, spaces=(), out=False, fake=fake_binomial)
def binomial_kernel(count, prob, generator):
    """How many of `count` trials succeed, each with probability `prob`."""
    refuse_integers("binomial_cpu", dt.from_numpy(count.dtype))
    if prob.dtype != count.dtype:
        raise TypeError("binomial(): two dtypes")
    return each(binomial_draw, generator, count.dtype, count, prob)


def poisson(input, generator=None):
    """Random counts, Poisson distributed with the rates `input` (floats, none negative); of its shape and dtype."""
    return registry["poisson"](input, generator)


def binomial(count, prob, generator=None):
    """Random numbers of successes in `count` trials of probability `prob`; floats of the shape of `count`."""
    return registry["binomial"](count, prob, generator)


for _function in (poisson, binomial):
    registry[_function.__name__].info.public = publish(_function.__name__, _function, ("",))
