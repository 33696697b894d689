"""The error function, the gamma function and its derivatives, and two Bessel functions, element by element."""

import math

import numpy as np

from ..core import dtype as dt
from ..kernels import scalar, special
from .declare import ELEMENTWISE, FLOAT, operator, pointwise, publish, taking_out
from .fake import Fake
from .pointwise import where
from .pointwise_rules import also_in, inplace_functions, looped

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


def erf_form(x):
    return scalar.erf(x)


def erfc_form(x):
    return math.erfc(x)


def erfinv_form(x):
    return special.erfinv(x)


def lgamma_form(x):
    return special.lgamma(x)


def digamma_form(x):
    return special.digamma(x)


def trigamma_form(x):
    return special.trigamma(x)


def i0_form(x):
    return special.i0(x)


def i1_form(x):
    return special.i1(x)


@pointwise("erf", numpy=looped(math.erf, erf_form), kind=FLOAT,
           vjp={"self": lambda grad, self: grad * (-self * self).exp() * TWO_OVER_SQRT_PI})
def erf(self):
    """The error function."""
    return erf_form(self)


@pointwise("erfc", numpy=looped(math.erfc, erfc_form), kind=FLOAT,
           vjp={"self": lambda grad, self: grad * (-self * self).exp() * -TWO_OVER_SQRT_PI})
def erfc(self):
    """1 - erf(self), accurate where erf is near 1."""
    return erfc_form(self)


@pointwise("erfinv", numpy=looped(special.erfinv_of, erfinv_form), kind=FLOAT,
           vjp={"self": lambda grad, result: grad * (result * result).exp() / TWO_OVER_SQRT_PI})
def erfinv(self):
    """The inverse of the error function, NaN outside -1 to 1."""
    return erfinv_form(self)


@pointwise("lgamma", numpy=looped(special.lgamma_of, lgamma_form), kind=FLOAT,
           vjp={"self": lambda grad, self: grad * self.digamma()})
def lgamma(self):
    """The logarithm of the absolute value of the gamma function."""
    return lgamma_form(self)


@pointwise("digamma", numpy=looped(special.digamma_of, digamma_form), kind=FLOAT,
           vjp={"self": lambda grad, self: grad * trigamma(self)})
def digamma(self):
    """The derivative of lgamma."""
    return digamma_form(self)


@pointwise("trigamma", numpy=looped(special.trigamma_of, trigamma_form), kind=FLOAT, inplace=False, spaces=(),
           vjp={"self": lambda grad, self: grad * polygamma(2, self)})
def trigamma(self):
    """The derivative of digamma."""
    return trigamma_form(self)


@pointwise(
    "i0", numpy=looped(special.i0_of, i0_form), kind=FLOAT, vjp={"self": lambda grad, self: grad * i1(self)}
)
def i0(self):
    """The modified Bessel function of the first kind, of order 0."""
    return i0_form(self)


@pointwise("special_i1", numpy=looped(special.i1_of, i1_form), kind=FLOAT, inplace=False, spaces=(),
           vjp={"self": lambda grad, self, result: grad * i1_slope(self, result)})
def i1(self):
    """The modified Bessel function of the first kind, of order 1."""
    return i1_form(self)


def i1_slope(self, result):
    """i0(x) - i1(x) / x, and one half at 0 and NaN."""
    return where(self.abs() > 0, self.i0() - result / self, 0.5)


def fake_polygamma(self, n):
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return Fake(self._shape, self._dtype if self._dtype.category == dt.FLOATING else dt.float32)


@operator("higher_polygamma", fake=fake_polygamma, jvp=ELEMENTWISE, spaces=(), out=False,
          vjp={"self": lambda grad, self, n: grad * higher_polygamma(self, n + 1)})
def higher_polygamma(self, n):
    """(-1) ** (n + 1) n! zeta(n + 1, self), for n of at least 2."""
    factor = (-1.0) ** (n + 1) * math.factorial(n)
    x = self if self.dtype.kind not in "biu" else self.astype(np.float32)
    return np.asarray(special.each(lambda q: factor * special.zeta_of(n + 1.0, q))(x))


def polygamma(n, input):
    """The n-th derivative of digamma. RuntimeError for a negative n."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n < 2:
        return digamma(input) if n == 0 else trigamma(input)
    return higher_polygamma(input, n)


def polygamma_method(self, n):
    """The n-th derivative of digamma. RuntimeError for a negative n."""
    return polygamma(n, self)


def polygamma_(self, n):
    """In-place version of `polygamma`: changes this tensor and returns it."""
    return self.copy_(polygamma(n, self))


publish("polygamma", taking_out(polygamma), ("", "special"))
publish("polygamma", polygamma_method, ("Tensor",))
publish("polygamma_", polygamma_, ("Tensor",))
publish("i1", i1, ("special",))
also_in("special", "erf", "erfc", "erfinv", "digamma", "i0", "psi=digamma", "gammaln=lgamma")
inplace_functions("erf", "erfc", "i0")
