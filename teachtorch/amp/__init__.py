"""Automatic mixed precision: matrix products in a short dtype, the rest in float32 (torch.amp).

https://docs.pytorch.org/docs/stable/amp.html
"""
from . import cuda  # noqa: F401
from .autocast_mode import (autocast, clear_autocast_cache, custom_bwd, custom_fwd, get_autocast_dtype,  # noqa: F401
                            is_autocast_available, is_autocast_cache_enabled, is_autocast_enabled,
                            set_autocast_cache_enabled, set_autocast_dtype, set_autocast_enabled)
from .grad_scaler import GradScaler  # noqa: F401

__all__ = ["autocast", "custom_bwd", "custom_fwd", "GradScaler", "is_autocast_available"]
