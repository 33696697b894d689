"""Forward mode: dual numbers.

A dual tensor carries two arrays: the *primal*, its value, and the *tangent*, how fast that value changes when
the inputs move in some direction. Each operation computes both, side by side, so no graph is needed:

    primal                tangent
    x + y                 x' + y'
    x * y                 x' * y + x * y'
    x / y                 (x' * y - x * y') / y**2
    x ** n                n * x**(n-1) * x'            n: a number
    x @ y                 x' @ y + x @ y'
    x[key]                x'[key]                      a view: it looks into the arrays of x

A tangent is only valid inside the level in which it was made. After that, nobody must see it any more.
"""

import numpy as np


class Level:
    """`with Level() as level:` is a place for tangents; it is open inside the block."""

    def __init__(self):
        self.is_open = False

    def __enter__(self):
        """Open the level and return it."""
        # solution
        self.is_open = True
        return self
        # end of solution

    def __exit__(self, *error):
        """Close the level, also after an error."""
        # solution
        self.is_open = False
        # end of solution

    def make_dual(self, primal, tangent):
        """Return a dual of this level. RuntimeError where the level is not open or the shapes differ."""
        # solution
        if not self.is_open:
            raise RuntimeError("make_dual outside of a level")
        if primal.shape != tangent.shape:
            raise RuntimeError(f"the tangent has shape {tangent.shape}, the primal {primal.shape}")
        return Dual(primal, tangent, self)
        # end of solution

    def unpack(self, dual):
        """Return (primal, tangent) of a dual; the tangent is None where the level is not open (any more)."""
        # solution
        return dual.primal, dual.tangent if self.is_open else None
        # end of solution


class Dual:
    """A primal and a tangent, arrays of the same shape, of a level."""

    def __init__(self, primal, tangent, level):
        self.primal, self.tangent, self.level = primal, tangent, level

    def __repr__(self):
        return f"Dual({self.primal}, {self.tangent})"

    def __add__(self, other):
        """The sum of two duals."""
        # solution
        return Dual(self.primal + other.primal, self.tangent + other.tangent, self.level)
        # end of solution

    def __mul__(self, other):
        """The product of two duals, element by element."""
        # solution
        tangent = self.tangent * other.primal + self.primal * other.tangent
        return Dual(self.primal * other.primal, tangent, self.level)
        # end of solution

    def __truediv__(self, other):
        """The quotient of two duals, element by element."""
        # solution
        tangent = (self.tangent * other.primal - self.primal * other.tangent) / other.primal**2
        return Dual(self.primal / other.primal, tangent, self.level)
        # end of solution

    def __pow__(self, n):
        """Each element to the power n, a number."""
        # solution
        return Dual(self.primal**n, n * self.primal ** (n - 1) * self.tangent, self.level)
        # end of solution

    def __matmul__(self, other):
        """The matrix product of two duals."""
        # solution
        tangent = self.tangent @ other.primal + self.primal @ other.tangent
        return Dual(self.primal @ other.primal, tangent, self.level)
        # end of solution

    def __getitem__(self, key):
        """A part, as a view: a change in place of it changes this dual too. key: integers and slices."""
        # solution
        key = key if isinstance(key, tuple) else (key,)
        return Dual(self.primal[(*key, ...)], self.tangent[(*key, ...)], self.level)
        # end of solution

    def mul_(self, other):
        """Multiply by another dual, in place, and return self."""
        # solution
        product = self * other
        self.primal[...], self.tangent[...] = product.primal, product.tangent
        return self
        # end of solution
