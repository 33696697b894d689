"""Special functions of torch.special beyond those of elementary.py and error_gamma.py: entropy, zeta, gamma ..."""
import math

import numpy as np

from ..core import dtype as dt
from ..kernels import scalar, special
from ..kernels.pointwise import cast
from ..tensor import Tensor
from .declare import FLOAT, composite, exports, pointwise, publish
from .pointwise import where
from .pointwise_rules import looped, no_halves, prepared, widened

SQRT_HALF = math.sqrt(0.5)


def looped_pair(python):
    """A function of two arrays that NumPy lacks: `python` for each pair of elements, in float64."""
    ufunc = np.frompyfunc(python, 2, 1)

    def compute(x, y):
        found = ufunc(cast(x, np.float64), cast(y, np.float64))
        return np.asarray(found, dtype=np.float64).astype(x.dtype, copy=False)
    return compute


def not_differentiable(name):
    """A formula for an argument by which there is no derivative: NotImplementedError when backward gets there."""
    def refuse(grad):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")
    return refuse


# ---- entropy and logarithms -----------------------------------------------------------------------------------

def entropy_of(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, -x * np.log(np.where(x > 0, x, 1)), np.where(x == 0, x * 0, np.where(x < 0, -np.inf, x)))


@pointwise("special_entr", numpy=widened(entropy_of), kind=FLOAT, inplace=False, spaces=(),
           vjp={"self": lambda grad, self: grad * (-(1 + self.log()))})
def entr(self):
    """-self * log(self); 0 at 0 and -inf below."""
    return -self * scalar.log(self) if self > 0.0 else (0.0 if self == 0.0 else (-math.inf if self < 0.0 else self))


def x_log1p_y(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((x == 0) & (y == y), np.zeros_like(x), x * np.log1p(y))


@pointwise("special_xlog1py", numpy=widened(x_log1p_y), kind=FLOAT, inplace=False, spaces=(),
           vjp={"self": lambda grad, self, other: where(is_flat(self, other), 0.0, grad * log1p(other)),
                "other": lambda grad, self, other: grad * self / (other + 1)})
def xlog1py(self, other):
    """self * log1p(other), and 0 where self is 0 (NaN where other is)."""
    return 0.0 if self == 0.0 and other == other else self * math.log1p(other)


def is_flat(self, other):
    """Where xlog1py is 0 whatever its first argument does near by."""
    return (self == 0) & (other <= -1) if isinstance(other, Tensor) else (self == 0) & bool(other <= -1)


def log1p(value):
    return value.log1p() if isinstance(value, Tensor) else math.log1p(value)


# ---- the normal distribution -------------------------------------------------------------------------------------

def erfcx_form(x):
    return special.erfcx(x)


def log_ndtr_form(x):
    return special.log_ndtr(x)


def ndtri_form(x):
    return special.ndtri(x)


@prepared("special_erfcx", no_halves("erfcx_cpu"), numpy=looped(special.erfcx_of, erfcx_form), kind=FLOAT,
          inplace=False, spaces=(),
          vjp={"self": lambda grad, self, result: grad * (2 * self * result - 2 / math.sqrt(math.pi))})
def erfcx(self):
    """exp(self * self) * erfc(self)."""
    return erfcx_form(self)


@composite("special_ndtr", out=True, spaces=())
def ndtr(self):
    """The chance that a standard normal number is below self."""
    return (1 + (self * SQRT_HALF).erf()) * 0.5


@prepared("special_log_ndtr", no_halves("log_ndtr_cpu"), numpy=looped(special.log_ndtr_of, log_ndtr_form), kind=FLOAT,
          inplace=False, spaces=(),
          vjp={"self": lambda grad, self: grad / erfcx(-self * SQRT_HALF) * math.sqrt(2 / math.pi)})
def log_ndtr(self):
    """The logarithm of ndtr, exact where ndtr underflows."""
    return log_ndtr_form(self)


@prepared("special_ndtri", no_halves("ndtri_cpu"), numpy=looped(special.ndtri_of, ndtri_form), kind=FLOAT,
          inplace=False, spaces=(),
          vjp={"self": lambda grad, result: grad * math.sqrt(2 * math.pi) * (result * result / 2).exp()})
def ndtri(self):
    """The inverse of ndtr; NaN outside 0 to 1."""
    return ndtri_form(self)


# ---- Bessel, zeta, gamma -----------------------------------------------------------------------------------------

def i0e_form(x):
    return special.i0e(x)


def i1e_form(x):
    return special.i1e(x)


def zeta_form(x, q):
    return special.zeta(x, q)


def igamma_form(a, x):
    return special.igamma(a, x)


def igammac_form(a, x):
    return special.igammac(a, x)


@pointwise("special_i0e", numpy=looped(special.i0e_of, i0e_form), kind=FLOAT, inplace=False, spaces=(),
           vjp={"self": lambda grad, self, result: grad * (i1e(self) - self.sgn() * result)})
def i0e(self):
    """exp(-|self|) * i0(self)."""
    return i0e_form(self)


@pointwise("special_i1e", numpy=looped(special.i1e_of, i1e_form), kind=FLOAT, inplace=False, spaces=(),
           vjp={"self": lambda grad, self, result: grad * i1e_slope(self, result)})
def i1e(self):
    """exp(-|self|) * i1(self)."""
    return i1e_form(self)


def i1e_slope(self, result):
    """The derivative of i1e: one half at 0 and NaN."""
    return where(self.abs() > 0, i0e(self) - result * (self.sgn() + 1 / self), 0.5)


@prepared("special_zeta", no_halves("zeta_cpu"), numpy=looped_pair(special.zeta_of), kind=FLOAT, inplace=False,
          spaces=(),
          vjp={"self": not_differentiable("zeta"),
               "other": lambda grad, self, other: grad * -self * zeta(self + 1, other)})
def zeta(self, other):
    """Hurwitz' zeta function, the sum of (other + k) ** -self over k = 0, 1, 2, ..."""
    return zeta_form(self, other)


def density(grad, self, other):
    """The derivative of P(a, x) by x."""
    return grad * ((self - 1) * other.log() - other - self.lgamma()).exp()


@pointwise("igamma", numpy=looped_pair(special.igamma_of), kind=FLOAT,
           vjp={"self": not_differentiable("igamma: input"), "other": density})
def igamma(self, other):
    """The regularised lower incomplete gamma function, the part of gamma(self)'s integral from 0 to other."""
    return igamma_form(self, other)


@pointwise("igammac", numpy=looped_pair(special.igammac_of), kind=FLOAT,
           vjp={"self": not_differentiable("igammac: input"),
                "other": lambda grad, self, other: -density(grad, self, other)})
def igammac(self, other):
    """1 - igamma, exact where igamma is near 1."""
    return igammac_form(self, other)


@composite("mvlgamma", out=True)
def mvlgamma(self, p):
    """The logarithm of the multivariate gamma function of dimension p, for self > (p - 1) / 2."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    shifts = exports[""]["arange"](-p * 0.5 + 0.5, 0.5, 0.5, dtype=self._dtype if self._dtype.is_floating_point
                                   else dt.float32, device=self._device)
    return (self.unsqueeze(-1) + shifts).lgamma().sum(-1) + p * (p - 1) * math.log(math.pi) / 4


def mvlgamma_(self, p):
    """In-place version of `mvlgamma`: changes this tensor and returns it."""
    return self.copy_(mvlgamma(self, p))


publish("mvlgamma_", mvlgamma_, ("Tensor",))
for _name, _function in (("entr", entr), ("xlog1py", xlog1py), ("erfcx", erfcx), ("ndtr", ndtr), ("ndtri", ndtri),
                         ("log_ndtr", log_ndtr), ("i0e", i0e), ("i1e", i1e), ("zeta", zeta), ("gammainc", igamma),
                         ("gammaincc", igammac), ("multigammaln", mvlgamma)):
    publish(_name, _function, ("special",))
