"""Communication hooks for DistributedDataParallel (torch.distributed.algorithms.ddp_comm_hooks)."""

from . import default_hooks, powerSGD_hook  # noqa: F401
