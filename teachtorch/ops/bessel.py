"""Bessel functions and Airy's of torch.special. As in PyTorch they have no derivatives: results require no gradient.

Integers give float32; NotImplementedError for the 16-bit floats.
"""
from ..kernels import bessel, special
from .declare import FLOAT, publish
from .pointwise_rules import looped, no_halves, prepared


def function(name, python):
    """Declare torch.special.<name>: `python` serves few elements, the function it decorates is compiled for many."""
    def declare(scalar):
        declared = prepared(f"special_{name}", no_halves(f"{name}_cpu"), kind=FLOAT, numpy=looped(python, scalar),
                            inplace=False, spaces=())(scalar)
        return publish(name, declared, ("special",))
    return declare


@function("bessel_j0", bessel.j0_of)
def bessel_j0(self):
    """The Bessel function of the first kind of order 0."""
    return bessel.j0_of(self)


@function("bessel_j1", bessel.j1_of)
def bessel_j1(self):
    """The Bessel function of the first kind of order 1."""
    return bessel.j1_of(self)


@function("bessel_y0", bessel.y0_of)
def bessel_y0(self):
    """The Bessel function of the second kind of order 0; NaN below 0."""
    return bessel.y0_of(self)


@function("bessel_y1", bessel.y1_of)
def bessel_y1(self):
    """The Bessel function of the second kind of order 1; NaN below 0."""
    return bessel.y1_of(self)


@function("modified_bessel_i0", special.i0_of)
def modified_bessel_i0(self):
    """The modified Bessel function of the first kind of order 0, `i0` without a derivative."""
    return special.i0_of(self)


@function("modified_bessel_i1", special.i1_of)
def modified_bessel_i1(self):
    """The modified Bessel function of the first kind of order 1, `i1` without a derivative."""
    return special.i1_of(self)


@function("modified_bessel_k0", bessel.k0_of)
def modified_bessel_k0(self):
    """The modified Bessel function of the second kind of order 0; NaN below 0."""
    return bessel.k0_of(self)


@function("modified_bessel_k1", bessel.k1_of)
def modified_bessel_k1(self):
    """The modified Bessel function of the second kind of order 1; NaN below 0."""
    return bessel.k1_of(self)


@function("scaled_modified_bessel_k0", bessel.k0e_of)
def scaled_modified_bessel_k0(self):
    """exp(self) * modified_bessel_k0(self), where that underflows."""
    return bessel.k0e_of(self)


@function("scaled_modified_bessel_k1", bessel.k1e_of)
def scaled_modified_bessel_k1(self):
    """exp(self) * modified_bessel_k1(self), where that underflows."""
    return bessel.k1e_of(self)


@function("spherical_bessel_j0", bessel.spherical_j0_of)
def spherical_bessel_j0(self):
    """sin(self) / self, and 1 at 0."""
    return bessel.spherical_j0_of(self)


@function("airy_ai", bessel.airy_ai_of)
def airy_ai(self):
    """Airy's function Ai, the solution of y'' = x y that vanishes at infinity."""
    return bessel.airy_ai_of(self)
