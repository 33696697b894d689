"""Callbacks that follow a clock or a table."""

import time

from ..arguments import seconds_of
from .callback import Callback


class GradientAccumulationScheduler(Callback):
    """Changes accumulate_grad_batches by epoch: {0: 8, 4: 1} is 8 at first, and 1 from epoch 4 on."""

    def __init__(self, scheduling):
        if not scheduling or any(not isinstance(value, int) or value < 1 for value in scheduling.values()):
            raise ValueError(
                f"scheduling must be a dict from epochs to numbers of batches from 1, got {scheduling}"
            )
        self.scheduling = {0: 1, **scheduling}

    def on_train_epoch_start(self, trainer, pl_module):
        reached = [epoch for epoch in self.scheduling if epoch <= trainer.current_epoch]
        trainer.accumulate_grad_batches = self.scheduling[max(reached)]


class Timer(Callback):
    """Stops after `duration` of training: seconds, a timedelta or "DD:HH:MM:SS"; checked after each batch."""

    def __init__(self, duration):
        self.duration, self.start_time = seconds_of(duration), None

    def on_train_start(self, trainer, pl_module):
        self.start_time = time.monotonic()

    def time_elapsed(self):
        """Seconds since training began."""
        return 0.0 if self.start_time is None else time.monotonic() - self.start_time

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if self.time_elapsed() >= self.duration:
            trainer.should_stop = True
