"""Signal processing (torch.signal): window functions."""
from . import windows  # noqa: F401
