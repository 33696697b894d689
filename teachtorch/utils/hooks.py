"""torch.utils.hooks: where users look for RemovableHandle."""
from ..core.hooks import RemovableHandle  # noqa: F401


def unserializable_hook(f):
    """Mark a hook as one that must not be saved with its tensor."""
    f.__torch_unserializable__ = True
    return f
