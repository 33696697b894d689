"""Sample arguments for every operator, by module of teachtorch/ops: {operator: [sample, ...]}.

Arrays in a sample become tensors; float64 arrays are what gradients are checked for. Values lie away from kinks and
poles, since central differences cannot see one-sided derivatives.
"""
import importlib
import pkgutil

import numpy as np


class Sample:
    """One call: positional and keyword arguments, in which NumPy arrays stand for tensors.

    `gradient=False`: the result is no function of the inputs that differences could check (random, degenerate).
    """

    def __init__(self, args, kwargs, gradient=True):
        self.args = args
        self.kwargs = kwargs
        self.gradient = gradient

    def __repr__(self):
        shown = [f"{a.dtype}{list(a.shape)}" if isinstance(a, np.ndarray) else repr(a) for a in self.args]
        return ", ".join(shown + [f"{k}={v!r}" for k, v in self.kwargs.items()])


def sample(*args, gradient=True, **kwargs):
    return Sample(args, kwargs, gradient)


def x(*shape, seed=0, low=-2.0, high=2.0):
    """A float64 array, uniform in [low, high)."""
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape)


def positive(*shape, seed=0):
    """A float64 array in [0.5, 2)."""
    return x(*shape, seed=seed, low=0.5, high=2.0)


def apart(*shape, seed=0, gap=0.1):
    """A float64 array of distinct values at least `gap` apart: for max, sort, median."""
    count = int(np.prod(shape))
    values = (np.arange(count) - count / 2 + 0.25) * gap
    return np.random.default_rng([seed, *shape]).permutation(values).reshape(shape)


def ints(*shape, low=0, high=5, seed=0):
    """An int64 array in [low, high)."""
    return np.random.default_rng([seed, *shape]).integers(low, high, shape)


def bools(*shape, seed=0):
    """A bool array."""
    return np.random.default_rng([seed, *shape]).integers(0, 2, shape).astype(bool)


def all_samples():
    """{operator: samples} of every module in this folder."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        found.update(importlib.import_module(f"{__name__}.{module.name}").SAMPLES)
    return found
