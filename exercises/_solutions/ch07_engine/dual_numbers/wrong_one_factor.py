"""Lets only the first factor of a matrix product move."""

import numpy as np

FAILS = "test_matmul"
SAYS = "both factors move"


class Level:
    def __init__(self):
        self.is_open = False

    def __enter__(self):
        self.is_open = True
        return self

    def __exit__(self, *error):
        self.is_open = False

    def make_dual(self, primal, tangent):
        if not self.is_open:
            raise RuntimeError("make_dual outside of a level")
        if primal.shape != tangent.shape:
            raise RuntimeError(f"the tangent has shape {tangent.shape}, the primal {primal.shape}")
        return Dual(primal, tangent, self)

    def unpack(self, dual):
        return dual.primal, dual.tangent if self.is_open else None


class Dual:
    def __init__(self, primal, tangent, level):
        self.primal, self.tangent, self.level = primal, tangent, level

    def __repr__(self):
        return f"Dual({self.primal}, {self.tangent})"

    def __add__(self, other):
        return Dual(self.primal + other.primal, self.tangent + other.tangent, self.level)

    def __mul__(self, other):
        tangent = self.tangent * other.primal + self.primal * other.tangent
        return Dual(self.primal * other.primal, tangent, self.level)

    def __truediv__(self, other):
        tangent = (self.tangent * other.primal - self.primal * other.tangent) / other.primal**2
        return Dual(self.primal / other.primal, tangent, self.level)

    def __pow__(self, n):
        return Dual(self.primal**n, n * self.primal ** (n - 1) * self.tangent, self.level)

    def __matmul__(self, other):
        tangent = self.tangent @ other.primal
        return Dual(self.primal @ other.primal, tangent, self.level)

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        return Dual(self.primal[(*key, ...)], self.tangent[(*key, ...)], self.level)

    def mul_(self, other):
        product = self * other
        self.primal[...], self.tangent[...] = product.primal, product.tangent
        return self
