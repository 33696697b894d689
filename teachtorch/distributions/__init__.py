"""Probability distributions: samples that match PyTorch's for the same seed, densities, entropies, divergences.

The ones that model code uses most; the others of torch.distributions are not there.
https://docs.pytorch.org/docs/stable/distributions.html
"""
from . import constraints  # noqa: F401
from .bernoulli import Bernoulli  # noqa: F401
from .categorical import Categorical, OneHotCategorical  # noqa: F401
from .continuous import Exponential, Laplace, LogNormal, Normal, Uniform  # noqa: F401
from .distribution import Distribution, Independent  # noqa: F401
from .kl import kl_divergence, register_kl  # noqa: F401

__all__ = ["Bernoulli", "Categorical", "Distribution", "Exponential", "Independent", "Laplace", "LogNormal", "Normal",
           "OneHotCategorical", "Uniform", "kl_divergence", "register_kl"]
