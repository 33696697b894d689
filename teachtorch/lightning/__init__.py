"""Training loops that somebody else has written: LightningModule, LightningDataModule, Trainer.

    module.py, datamodule.py    what a user writes; hooks.py: their hooks, in the order in which they run
    trainer.py                  the arguments, and what users call; state.py: what can be asked of it
    run.py                      a run, from set-up to teardown
    loops/                      epochs, batches, one optimizer step, evaluation
    calls.py                    who is called at a hook: callbacks, then the module
    metrics.py                  what self.log collects
    checkpoint.py               what is saved, and put back
    connectors/                 data, random numbers, schedulers, callbacks, Ctrl-C
    callbacks/ loggers/ strategies/ profilers.py

The interface is that of PyTorch Lightning 2.6: `import teachtorch.lightning as L`.
https://lightning.ai/docs/pytorch/stable/
"""

from . import callbacks, loggers, profilers
from .callbacks import Callback
from .datamodule import LightningDataModule
from .errors import MisconfigurationException
from .module import LightningModule
from .optimizers import LightningOptimizer
from .seed import seed_everything
from .trainer import Trainer

__all__ = [
    "Callback",
    "LightningDataModule",
    "LightningModule",
    "LightningOptimizer",
    "MisconfigurationException",
    "Trainer",
    "callbacks",
    "loggers",
    "profilers",
    "seed_everything",
]
