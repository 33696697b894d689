"""torch.utils.hooks: where users look for RemovableHandle."""
from ..core.hooks import RemovableHandle  # noqa: F401
