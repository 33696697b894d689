"""What can be asked of a Trainer: how far it is, what was logged, what it is doing."""

import math


class TrainerState:
    """The properties of a Trainer."""

    @property
    def current_epoch(self):
        """Epochs completed; during an epoch its number."""
        return self.progress.epoch

    @property
    def global_step(self):
        """Optimizer steps, of all optimizers together. Not batches."""
        return self.progress.steps

    @property
    def batch_idx(self):
        """The training batch at hand, counted in its epoch."""
        return self.fit_loop.epoch_loop.batch_idx

    @property
    def num_training_batches(self):
        """Batches of an epoch; math.inf where that is not known."""
        return self.fit_loop.limit

    @property
    def estimated_stepping_batches(self):
        """How many optimizer steps a fit will take; math.inf where that is not known. For schedulers."""
        if self.fit_loop.limit is None:
            self.fit_loop.set_up_data()
        per_epoch = (
            math.ceil(self.fit_loop.limit / self.accumulate_grad_batches)
            if self.fit_loop.limit != math.inf
            else math.inf
        )
        total = math.inf if self.max_epochs in (-1, None) else per_epoch * self.max_epochs
        return total if self.max_steps == -1 else min(total, self.max_steps)

    @property
    def callback_metrics(self):
        """{name: tensor} of everything logged that callbacks can watch."""
        return self.metrics.callback

    @property
    def logged_metrics(self):
        """{name: tensor} of what was last written to the loggers."""
        return self.metrics.logged

    @property
    def progress_bar_metrics(self):
        """{name: number} of what was logged with prog_bar=True."""
        return self.metrics.progress_bar

    @property
    def has_validation(self):
        """Whether there is a validation_step and data for it."""
        model, limit = self.lightning_module, self.limit_val_batches
        return limit != 0 and self.calls.is_defined("validation_step") and model is not None and self.data.has("val")

    @property
    def is_fitting(self):
        """Whether this is a fit, its validation included."""
        return self.fn == "fit"

    training = property(lambda self: self.stage == "train")
    validating = property(lambda self: self.stage == "validate")
    testing = property(lambda self: self.stage == "test")
    predicting = property(lambda self: self.stage == "predict")
    sanity_checking = property(lambda self: self.stage == "sanity_check")
    world_size = property(lambda self: self.strategy.world_size)
    global_rank = property(lambda self: self.strategy.global_rank)
    is_global_zero = property(lambda self: self.strategy.global_rank == 0)
    datamodule = property(lambda self: self.data.datamodule)
    lr_scheduler_configs = property(lambda self: self.schedulers.configs)

    @property
    def logger(self):
        """The first logger, or None."""
        return self.loggers[0] if self.loggers else None

    @property
    def log_dir(self):
        """The folder of the first logger, else default_root_dir."""
        return (self.logger and self.logger.log_dir) or self.default_root_dir

    @property
    def checkpoint_callbacks(self):
        from .callbacks import ModelCheckpoint

        return [one for one in self.callbacks if isinstance(one, ModelCheckpoint)]

    @property
    def checkpoint_callback(self):
        """The first ModelCheckpoint, or None."""
        return next(iter(self.checkpoint_callbacks), None)

    @property
    def early_stopping_callback(self):
        """The first EarlyStopping, or None."""
        from .callbacks import EarlyStopping

        return next((one for one in self.callbacks if isinstance(one, EarlyStopping)), None)
