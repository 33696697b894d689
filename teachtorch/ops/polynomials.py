"""Orthogonal polynomials of torch.special, of a degree for each element. As in PyTorch they have no derivatives.

`n` is the degree, a tensor or a number: its fraction is dropped, and below 0 the polynomial is 0. Integers give
float32; NotImplementedError for the 16-bit floats.
"""
from ..kernels import polynomials
from .declare import FLOAT, publish
from .pointwise_rules import no_halves, prepared
from .special import looped_pair


def polynomial(name, python):
    """Declare torch.special.<name>: `python` serves few elements, the function it decorates is compiled for many."""
    def declare(scalar):
        declared = prepared(f"special_{name}", no_halves(f"{name}_cpu"), kind=FLOAT, numpy=looped_pair(python),
                            inplace=False, spaces=())(scalar)
        return publish(name, declared, ("special",))
    return declare


@polynomial("chebyshev_polynomial_t", polynomials.chebyshev_t_of)
def chebyshev_polynomial_t(self, n):
    """Chebyshev's polynomial of the first kind: cos(n t) for self = cos(t)."""
    return polynomials.chebyshev_t_of(self, n)


@polynomial("chebyshev_polynomial_u", polynomials.chebyshev_u_of)
def chebyshev_polynomial_u(self, n):
    """Chebyshev's polynomial of the second kind: sin((n + 1) t) / sin(t) for self = cos(t)."""
    return polynomials.chebyshev_u_of(self, n)


@polynomial("chebyshev_polynomial_v", polynomials.chebyshev_v_of)
def chebyshev_polynomial_v(self, n):
    """Chebyshev's polynomial of the third kind: cos((n + 1/2) t) / cos(t / 2) for self = cos(t)."""
    return polynomials.chebyshev_v_of(self, n)


@polynomial("chebyshev_polynomial_w", polynomials.chebyshev_w_of)
def chebyshev_polynomial_w(self, n):
    """Chebyshev's polynomial of the fourth kind: sin((n + 1/2) t) / sin(t / 2) for self = cos(t)."""
    return polynomials.chebyshev_w_of(self, n)


@polynomial("shifted_chebyshev_polynomial_t", polynomials.shifted_chebyshev_t_of)
def shifted_chebyshev_polynomial_t(self, n):
    """chebyshev_polynomial_t of 2 * self - 1."""
    return polynomials.shifted_chebyshev_t_of(self, n)


@polynomial("shifted_chebyshev_polynomial_u", polynomials.shifted_chebyshev_u_of)
def shifted_chebyshev_polynomial_u(self, n):
    """chebyshev_polynomial_u of 2 * self - 1."""
    return polynomials.shifted_chebyshev_u_of(self, n)


@polynomial("shifted_chebyshev_polynomial_v", polynomials.shifted_chebyshev_v_of)
def shifted_chebyshev_polynomial_v(self, n):
    """chebyshev_polynomial_v of 2 * self - 1."""
    return polynomials.shifted_chebyshev_v_of(self, n)


@polynomial("shifted_chebyshev_polynomial_w", polynomials.shifted_chebyshev_w_of)
def shifted_chebyshev_polynomial_w(self, n):
    """chebyshev_polynomial_w of 2 * self - 1."""
    return polynomials.shifted_chebyshev_w_of(self, n)


@polynomial("hermite_polynomial_h", polynomials.hermite_h_of)
def hermite_polynomial_h(self, n):
    """Hermite's polynomial of the physicists, orthogonal under exp(-x**2); NaN for n above 512."""
    return polynomials.hermite_h_of(self, n)


@polynomial("hermite_polynomial_he", polynomials.hermite_he_of)
def hermite_polynomial_he(self, n):
    """Hermite's polynomial of the probabilists, orthogonal under exp(-x**2 / 2); NaN for n above 512."""
    return polynomials.hermite_he_of(self, n)


@polynomial("laguerre_polynomial_l", polynomials.laguerre_l_of)
def laguerre_polynomial_l(self, n):
    """Laguerre's polynomial, orthogonal under exp(-x)."""
    return polynomials.laguerre_l_of(self, n)


@polynomial("legendre_polynomial_p", polynomials.legendre_p_of)
def legendre_polynomial_p(self, n):
    """Legendre's polynomial, orthogonal from -1 to 1."""
    return polynomials.legendre_p_of(self, n)
