"""Pinning a batch (torch.utils.data._utils.pin_memory)."""
from ..pinning import pinned as pin_memory  # noqa: F401
