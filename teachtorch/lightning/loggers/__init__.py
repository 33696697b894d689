"""Where metrics are written to: `CSVLogger` (a file), `TensorBoardLogger` (with the tensorboard package)."""

from importlib.util import find_spec

from .csv_logs import CSVLogger
from .logger import Logger
from .tensorboard import TensorBoardLogger

__all__ = ["CSVLogger", "Logger", "TensorBoardLogger"]


def loggers_for(given, default_root_dir):
    """The list of loggers that the trainer's argument means: True or None is TensorBoard if installed, else CSV."""
    if given is False:
        return []
    if given is None or given is True:
        return [(TensorBoardLogger if find_spec("tensorboard") else CSVLogger)(default_root_dir)]
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    for one in found:
        if not hasattr(one, "log_metrics"):
            raise TypeError(f"expected a Logger, a list of them or a bool in `logger`, got {type(one).__name__}")
    return found
