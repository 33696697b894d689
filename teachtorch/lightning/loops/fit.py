"""fit: epochs, until one of the limits is reached."""

import math
import time

from ..connectors import data
from .epoch import EpochLoop


class FitLoop:
    """Runs epochs. `limit`: batches in each, math.inf where that is not known."""

    def __init__(self, trainer):
        self.trainer, self.progress, self.calls = trainer, trainer.progress, trainer.calls
        self.epoch_loop = EpochLoop(trainer)
        self.loader, self.limit = None, None
        self.began = math.inf  # when training began; time does not count before

    def run(self):
        """All epochs that are left."""
        trainer = self.trainer
        if self.is_done or trainer.limit_train_batches == 0:
            return
        self.began = time.monotonic()
        self.set_up_data()
        if self.limit == 0:
            return
        trainer.stage = "train"
        self.calls.both("on_train_start")
        if trainer.random.loaded is not None and self.progress.position in ("start", "epoch_end"):
            trainer.random.back_to_checkpoint(
                self.loader
            )  # in the middle of an epoch, EpochLoop.resume does it
        while not self.is_done:
            self.run_epoch()
        self.calls.both("on_train_end")

    def set_up_data(self):
        """Find the loader, and how many batches an epoch has."""
        trainer = self.trainer
        self.loader = data.prepared(trainer, trainer.data.loader("train"), is_training=True)
        self.limit = data.limit_of(trainer.limit_train_batches, self.loader, "train_dataloader")
        self.epoch_loop.plan_validation(self.limit)

    def run_epoch(self):
        """One epoch, or what is left of it after a checkpoint."""
        if self.progress.position != "epoch_end":
            self.epoch_loop.run(self.loader, self.limit)
            self.progress.position = "epoch_end"
            self.end_hooks()
        self.finish()

    def end_hooks(self):
        """on_train_epoch_end: callbacks that watch metrics last, so that the module can still log."""
        self.calls.callbacks("on_train_epoch_end", only=lambda callback: not callback.watches_a_metric)
        self.calls.hook("on_train_epoch_end")
        self.calls.callbacks("on_train_epoch_end", only=lambda callback: callback.watches_a_metric)

    def finish(self):
        """Schedulers that watch a metric, the epoch's values for the loggers; then the next epoch is up."""
        trainer = self.trainer
        trainer.schedulers.update("epoch", plateau=True)
        trainer.metrics.write("epoch", max(self.progress.stepped - 1, 0))
        self.progress.epoch += 1
        self.progress.batch, self.progress.position = 0, "start"
        trainer.stop_if_interrupted()
        every = trainer.reload_dataloaders_every_n_epochs
        if every and self.progress.epoch % every == 0 and not self.is_done:
            self.set_up_data()

    @property
    def is_done(self):
        """Whether a limit is reached, or somebody has asked to stop and may."""
        trainer, progress = self.trainer, self.progress
        if progress.position == "epoch_end":
            return False  # the end of an epoch is still to be finished
        if reached(progress.steps, trainer.max_steps) or reached(progress.epoch, trainer.max_epochs):
            return True
        if trainer.max_time is not None and time.monotonic() - self.began >= trainer.max_time:
            return True
        return trainer.should_stop and self.may_stop

    @property
    def may_stop(self):
        """Whether min_epochs and min_steps are reached."""
        trainer, progress = self.trainer, self.progress
        return progress.epoch >= (trainer.min_epochs or 0) and progress.steps >= (trainer.min_steps or 0)


def reached(count, limit):
    """Whether a limit is reached; -1 and None mean no limit."""
    return limit not in (None, -1, math.inf) and count >= limit
