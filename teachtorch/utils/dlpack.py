"""Sharing memory with other libraries by DLPack (torch.utils.dlpack)."""
from ..ops.interchange import from_dlpack, to_dlpack  # noqa: F401
