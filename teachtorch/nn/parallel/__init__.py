"""Modules on several devices, and on several ranks (torch.nn.parallel)."""
from .data_parallel import DataParallel, data_parallel  # noqa: F401


def __getattr__(name):
    """DistributedDataParallel, imported when first asked for: it needs teachtorch.distributed."""
    if name == "DistributedDataParallel":
        from .distributed import DistributedDataParallel
        return DistributedDataParallel
    raise AttributeError(f"module 'teachtorch.nn.parallel' has no attribute {name!r}")
