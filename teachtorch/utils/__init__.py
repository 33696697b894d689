"""Utilities around the engine."""
from . import data, hooks  # noqa: F401
