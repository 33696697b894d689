"""Algorithms on collectives: Join for uneven inputs, and communication hooks for DistributedDataParallel."""
from .join import Join, Joinable, JoinHook  # noqa: F401
