"""Where PyTorch keeps what its DataLoader is made of: other names of functions of the modules above."""
from . import collate, pin_memory, worker  # noqa: F401
