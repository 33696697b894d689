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
        raise NotImplementedError

    def __exit__(self, *error):
        """Close the level, also after an error."""
        raise NotImplementedError

    def make_dual(self, primal, tangent):
        """Return a dual of this level. RuntimeError where the level is not open or the shapes differ."""
        raise NotImplementedError

    def unpack(self, dual):
        """Return (primal, tangent) of a dual; the tangent is None where the level is not open (any more)."""
        raise NotImplementedError


class Dual:
    """A primal and a tangent, arrays of the same shape, of a level."""

    def __init__(self, primal, tangent, level):
        self.primal, self.tangent, self.level = primal, tangent, level

    def __repr__(self):
        return f"Dual({self.primal}, {self.tangent})"

    def __add__(self, other):
        """The sum of two duals."""
        raise NotImplementedError

    def __mul__(self, other):
        """The product of two duals, element by element."""
        raise NotImplementedError

    def __truediv__(self, other):
        """The quotient of two duals, element by element."""
        raise NotImplementedError

    def __pow__(self, n):
        """Each element to the power n, a number."""
        raise NotImplementedError

    def __matmul__(self, other):
        """The matrix product of two duals."""
        raise NotImplementedError

    def __getitem__(self, key):
        """A part, as a view: a change in place of it changes this dual too. key: integers and slices."""
        raise NotImplementedError

    def mul_(self, other):
        """Multiply by another dual, in place, and return self."""
        raise NotImplementedError
