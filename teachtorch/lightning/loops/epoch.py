"""One epoch: batch after batch, with validation where it is due."""

import math

from ..errors import MisconfigurationException
from ..seed import random_state
from .evaluation import EvaluationLoop
from .fetcher import Fetcher
from .optimization import AutomaticOptimization, ManualOptimization

TOO_RARE = (
    "`val_check_interval` ({}) must be less than or equal to the number of the training "
    "batches ({}). If you want "
    "to disable validation set `limit_val_batches` to 0.0 instead. If you want to validate "
    "based on the total "
    "training batches, set `check_val_every_n_epoch=None`."
)


class EpochLoop:
    """Trains on the batches of an epoch. `batch_idx`: the batch at hand."""

    def __init__(self, trainer):
        self.trainer, self.calls, self.progress = trainer, trainer.calls, trainer.progress
        self.validation = EvaluationLoop(trainer, "validation")
        self.fetcher, self.batch_idx, self.validates_every = None, 0, None
        self.start_of_epoch = None  # random numbers as the epoch began
        self.validates = False  # whether there is a validation in this epoch
        self.accumulates = False  # whether the gradients of the batch at hand only add up

    def run(self, loader, limit):
        """The epoch; after a checkpoint from its middle, the rest of it."""
        optimization = (
            AutomaticOptimization
            if self.trainer.lightning_module.automatic_optimization
            else ManualOptimization
        )
        self.optimization = optimization(self.trainer)
        if self.progress.position == "start" or self.trainer.random.loaded is None:  # after an error: from its start
            self.begin(loader, limit)
        else:
            self.resume(loader, limit)
        while not self.is_done:
            try:
                is_skipped = self.train_on_next()
            except StopIteration:  # the loader was shorter than it said
                return
            self.after_batch()
            if is_skipped:
                return

    # ---- beginning ----------------------------------------------------------------------------------------

    def begin(self, loader, limit):
        """A fresh epoch."""
        self.trainer.metrics.training.clear()
        self.batch_idx = self.progress.batch = 0
        self.calls.both("on_train_epoch_start")
        self.validates = self.validates_in_this_epoch()
        self.open(loader, limit)
        self.progress.position = "between"  # the order of samples is drawn: a checkpoint goes on with it

    def open(self, loader, limit):
        """Start iterating. What the loader draws here and later is drawn again when the run is resumed."""
        set_epoch(loader, self.progress.epoch)
        self.start_of_epoch = self.trainer.random.of_epoch(loader)
        self.fetcher = Fetcher(loader, limit)

    def resume(self, loader, limit):
        """Go to where the checkpoint was written: the same order of samples, without the batches done."""
        trainer, position = self.trainer, self.progress.position
        trainer.random.back_to_start(loader)
        self.open(loader, limit)
        self.fetcher.skip(self.progress.batch, trainer.random.loaded["fetcher"])
        trainer.random.back_to_checkpoint(loader)
        self.batch_idx = max(self.progress.batch - 1, 0)
        self.accumulates = self.accumulates_at(self.progress.batch)
        self.validates = self.validates_in_this_epoch()
        if position in ("batch", "validated"):
            self.after_batch(validated=position == "validated")

    # ---- a batch ------------------------------------------------------------------------------------------

    def train_on_next(self):
        """Train on the next batch.

        Returns whether on_train_batch_start asked to skip the rest of the epoch.
        """
        trainer, progress, calls = self.trainer, self.progress, self.calls
        if "on_train_batch_start" in calls.wanted():  # who may write a checkpoint, with this batch at hand
            self.fetcher.before_fetch = random_state()
        batch = next(self.fetcher)
        self.batch_idx = index = progress.batch
        batch = trainer.steps.transfer(batch)
        trainer.metrics.begin_batch(batch)
        is_skipped = False
        if "on_train_batch_start" in calls.wanted():
            is_skipped = calls.both("on_train_batch_start", batch, index) == -1
        self.accumulates = self.accumulates_at(index + 1)
        outputs = None if is_skipped else self.optimization.run(batch, index, self.accumulates)
        progress.batch, progress.position = index + 1, "batch"
        progress.total_batches += 1
        if trainer.schedulers.configs:
            self.step_schedulers()
        if "on_train_batch_end" in calls.wanted():
            calls.both("on_train_batch_end", outputs, batch, index)
        trainer.metrics.end_training_batch()
        return is_skipped

    def step_schedulers(self):
        """After every step; those of interval "epoch" after the last batch."""
        schedulers = self.trainer.schedulers
        if not self.accumulates:
            schedulers.update("step", plateau=False)
        if self.fetcher.is_last:
            schedulers.update("epoch", plateau=False)

    def after_batch(self, validated=False):
        """What comes between two batches: validation, and schedulers that watch its metrics."""
        progress, trainer = self.progress, self.trainer
        if self.validates and not validated and self.validation_is_due():
            self.validate()
        if not self.accumulates:
            if trainer.schedulers.configs:
                trainer.schedulers.update("step", plateau=True)
            progress.stepped += 1
        progress.position = "between"
        if trainer.interrupts.is_pending:
            trainer.stop_if_interrupted()

    def accumulates_at(self, count):
        """Whether the gradients of batch number `count` (from 1) only add up. The last batch always steps."""
        return count % self.trainer.accumulate_grad_batches != 0 and not self.fetcher.is_last

    @property
    def is_done(self):
        trainer, steps = self.trainer, self.progress.steps
        if self.fetcher.is_last or trainer.max_steps != -1 and steps >= trainer.max_steps:
            return True
        return trainer.should_stop and trainer.fit_loop.may_stop

    # ---- validation ---------------------------------------------------------------------------------------

    def plan_validation(self, limit):
        """Turn val_check_interval into a number of batches; math.inf: at the end of the epoch."""
        interval = self.trainer.val_check_interval
        if isinstance(interval, int):
            if self.trainer.check_val_every_n_epoch is not None and interval > limit:
                raise ValueError(TOO_RARE.format(interval, limit))
            self.validates_every = interval
        elif limit == math.inf:
            if interval != 1.0:
                raise MisconfigurationException(
                    "When using an IterableDataset for `train_dataloader`, "
                    "`Trainer(val_check_interval)` must be `1.0` or an int. An int k "
                    "specifies checking validation every k training batches."
                )
            self.validates_every = math.inf
        else:
            self.validates_every = max(1, int(limit * interval))

    def validates_in_this_epoch(self):
        """Whether the epoch is one with validation, and there is something to validate."""
        every = self.trainer.check_val_every_n_epoch
        return (every is None or (self.progress.epoch + 1) % every == 0) and self.trainer.has_validation

    def validation_is_due(self):
        """Whether training is about to stop, or this batch is the last of an interval between validations."""
        trainer = self.trainer
        if trainer.should_stop and trainer.fit_loop.may_stop:
            return True
        if self.validates_every == math.inf:
            return self.fetcher.is_last
        is_counted_on = trainer.check_val_every_n_epoch is None
        count = self.progress.total_batches if is_counted_on else self.progress.batch
        return count % self.validates_every == 0

    def validate(self):
        """Validation in the middle of training."""
        trainer = self.trainer
        trainer.random.before_validation()
        trainer.stage = "validate"
        if not self.accumulates:
            self.calls.method("on_validation_model_zero_grad")
        self.validation.run()
        trainer.stage = "train"
        trainer.random.after_validation()


def set_epoch(loader, epoch):
    """Tell samplers that shuffle by the epoch (DistributedSampler) which one comes."""
    for sampler in (getattr(loader, "sampler", None), getattr(loader, "batch_sampler", None)):
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)
