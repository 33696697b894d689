"""What a worker knows of itself (torch.utils.data._utils.worker)."""
from ..worker import WorkerInfo, get_worker_info  # noqa: F401
