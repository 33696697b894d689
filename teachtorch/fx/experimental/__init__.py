"""torch.fx.experimental: `optimization` folds and removes layers for inference."""
from . import optimization  # noqa: F401
