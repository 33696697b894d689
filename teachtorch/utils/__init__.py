"""Utilities around the engine."""
from . import checkpoint, data, hooks  # noqa: F401
