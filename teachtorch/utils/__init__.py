"""Utilities around the engine."""
from . import checkpoint, data, hooks  # noqa: F401
from .swapping import swap_tensors  # noqa: F401
