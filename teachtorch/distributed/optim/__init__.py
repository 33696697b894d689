"""Optimizers for many ranks (torch.distributed.optim)."""

from .zero import ZeroRedundancyOptimizer  # noqa: F401
