"""Callbacks: `Callback` and `LambdaCallback` to write one's own, and those that come with the trainer."""

from .callback import Callback, LambdaCallback
from .early_stopping import EarlyStopping
from .lr_monitor import LearningRateMonitor
from .model_checkpoint import ModelCheckpoint
from .progress import ProgressBar, TQDMProgressBar
from .schedules import GradientAccumulationScheduler, Timer
from .summary import ModelSummary

__all__ = [
    "Callback",
    "EarlyStopping",
    "GradientAccumulationScheduler",
    "LambdaCallback",
    "LearningRateMonitor",
    "ModelCheckpoint",
    "ModelSummary",
    "ProgressBar",
    "TQDMProgressBar",
    "Timer",
]
