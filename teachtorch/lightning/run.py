"""One fit, validate, test or predict of a Trainer, from set-up to teardown; also when it is interrupted."""

import math
import os
import sys
from contextlib import ExitStack

from ..autograd.anomaly_mode import detect_anomaly
from . import checkpoint as checkpoints
from .connectors.callbacks import check_keys, with_those_of
from .errors import MisconfigurationException
from .module import LightningModule
from .optimizers import LightningOptimizer, check_schedulers, configured
from .seed import isolated_random

SEVERAL_OPTIMIZERS = (
    "Training with multiple optimizers is only supported with manual optimization. Remove the "
    "`optimizer_idx` argument from `training_step`, set `self.automatic_optimization = False` and access "
    "your optimizers in `training_step` with `opt1, opt2, ... = self.optimizers()`."
)
MANUAL_CLIPPING = (
    "Automatic gradient clipping is not supported for manual optimization. Remove "
    "`Trainer(gradient_clip_val={})` or switch to automatic optimization."
)
MANUAL_ACCUMULATION = (
    "Automatic gradient accumulation is not supported for manual optimization. Remove "
    "`Trainer(accumulate_grad_batches={})` or switch to automatic optimization."
)


class Run:
    """`name`: "fit", "validate", "test" or "predict"; `model`: the LightningModule."""

    def __init__(self, trainer, name, model):
        self.trainer, self.name, self.model, self.calls = trainer, name, model, trainer.calls

    def go(self, ckpt_path):
        """All of it; returns the results of an evaluation. After Ctrl-C it returns as well."""
        trainer = self.trainer
        if not isinstance(self.model, LightningModule):
            raise TypeError(f"`model` must be a `LightningModule`, got `{type(self.model).__qualname__}`")
        trainer.fn, trainer.interrupted = self.name, False
        with ExitStack() as around:
            around.enter_context(trainer.interrupts.deferred())
            if trainer.detect_anomaly:
                around.enter_context(detect_anomaly())
            if trainer.profiler is not None:
                trainer.profiler.start()
                around.callback(self._end_profile)
            try:
                return self._stages(ckpt_path)
            except KeyboardInterrupt as error:
                self._interrupt(error)
            except BaseException as error:
                self._fail(error)
                raise
            finally:
                trainer.stage = None
                trainer.strategy.end()

    def _stages(self, ckpt_path):
        self.trainer.strategy.begin()
        checkpoint = self._attach(ckpt_path)
        self.trainer.strategy.set_up(self.model)
        if self.name == "fit":
            self._set_up_optimizers()
            self.calls.both("on_fit_start")
            if checkpoint is not None:
                checkpoints.restore_training(self.trainer, checkpoint)
        self._log_hyperparameters()
        self.model.zero_grad()
        found = self._fit(checkpoint) if self.name == "fit" else self._evaluate()
        if self.name == "fit":
            self.calls.both("on_fit_end")
        self._tear_down("success")
        return found

    # ---- set-up ----

    def _attach(self, ckpt_path):
        """Make the model part of this run; returns the checkpoint to go on from, or None."""
        trainer, model = self.trainer, self.model
        trainer.lightning_module, model.trainer = model, trainer
        trainer.metrics.results = trainer.metrics.training
        trainer.callbacks = with_those_of(model, trainer.callbacks)
        check_keys(trainer.callbacks)
        self.calls.attach(model)
        self._prepare_data()
        path = self._checkpoint_path(ckpt_path)
        self.calls.callbacks("setup", self.name)
        if trainer.datamodule is not None:
            trainer.datamodule.setup(stage=self.name)
        self.calls.hook("setup", self.name)
        self.calls.hook("configure_model")
        if path is None:
            return None
        checkpoint = checkpoints.read(path)
        checkpoints.restore_model(trainer, checkpoint)
        return checkpoint

    def _prepare_data(self):
        if self.trainer.is_global_zero:
            if self.trainer.datamodule is not None:
                self.trainer.datamodule.prepare_data()
            self.calls.hook("prepare_data")
        self.trainer.strategy.barrier()

    def _checkpoint_path(self, given):
        """The path that "best" and "last" mean."""
        if given not in ("best", "last"):
            return given
        callback = self.trainer.checkpoint_callback
        path = callback and (
            callback.best_model_path if given == "best" else callback.last_model_path or callback.best_model_path
        )
        if not path:
            raise ValueError(f'`ckpt_path="{given}"` is set but no checkpoint was written by a `ModelCheckpoint`')
        return path

    def _set_up_optimizers(self):
        trainer, model = self.trainer, self.model
        trainer.optimizers, trainer.schedulers.configs = configured(self.calls.method("configure_optimizers"))
        check_schedulers(trainer.schedulers.configs, trainer.optimizers, self.calls.is_defined("lr_scheduler_step"))
        trainer.wrapped_optimizers = [LightningOptimizer(one, trainer) for one in trainer.optimizers]
        if model.automatic_optimization and len(trainer.optimizers) > 1:
            raise RuntimeError(SEVERAL_OPTIMIZERS)
        if not model.automatic_optimization and trainer.gradient_clip_val:
            raise MisconfigurationException(MANUAL_CLIPPING.format(trainer.gradient_clip_val))
        if not model.automatic_optimization and trainer.accumulate_grad_batches != 1:
            raise MisconfigurationException(MANUAL_ACCUMULATION.format(trainer.accumulate_grad_batches))

    def _log_hyperparameters(self):
        if not self.trainer.is_global_zero:
            return
        for owner in (self.trainer.datamodule, self.model):
            if owner is not None and owner.hparams and owner.__dict__.get("_log_hyperparams"):
                for logger in self.trainer.loggers:
                    logger.log_hyperparams(owner.hparams_initial)

    # ---- the work, and the end ----

    def _fit(self, checkpoint):
        trainer = self.trainer
        trainer.random.loaded = None if checkpoint is None else trainer.random.loaded
        trainer.fit_loop.epoch_loop.validation.loaders = None
        trainer.fit_loop.began = math.inf
        if checkpoint is None:
            self._check_sanity()
        else:
            checkpoints.restore_gradients(trainer, checkpoint)
        trainer.fit_loop.run()

    def _check_sanity(self):
        """A few batches of validation before training, so that its faults do not wait for the end of an epoch."""
        trainer = self.trainer
        if not trainer.has_validation or not trainer.num_sanity_val_steps or trainer.fit_loop.is_done:
            return
        trainer.stage = "sanity_check"
        self.calls.callbacks("on_sanity_check_start")
        with isolated_random():
            trainer.fit_loop.epoch_loop.validation.run(at_most=trainer.num_sanity_val_steps)
        trainer.metrics.evaluation.entries.clear()
        self.calls.callbacks("on_sanity_check_end")

    def _evaluate(self):
        self.trainer.stage = self.name
        self.trainer.evaluation.set_up_data()
        return self.trainer.evaluation.run()

    def _tear_down(self, status):
        self.calls.callbacks("teardown", self.name)
        if self.trainer.datamodule is not None:
            self.trainer.datamodule.teardown(stage=self.name)
        self.calls.hook("teardown", self.name)
        for logger in self.trainer.loggers:
            logger.finalize(status)

    # ---- ends that were not planned ----

    def _interrupt(self, error):
        """Ctrl-C: a checkpoint, and the usual end."""
        trainer = self.trainer
        trainer.interrupted = trainer.should_stop = True
        if trainer.is_global_zero:
            print("\nDetected KeyboardInterrupt, attempting graceful shutdown ...", file=sys.stderr)
        self._fail(error)
        callback = trainer.checkpoint_callback
        if self.name == "fit" and callback is not None and callback.dirpath and trainer.optimizers:
            trainer.save_checkpoint(os.path.join(callback.dirpath, "interrupted.ckpt"))

    def _fail(self, error):
        trainer = self.trainer
        if trainer.lightning_module is not None:
            self.calls.callbacks("on_exception", error)
        if trainer.datamodule is not None:
            trainer.datamodule.on_exception(error)
        for logger in trainer.loggers:
            logger.finalize("failed")

    def _end_profile(self):
        self.trainer.profiler.stop()
        if self.trainer.is_global_zero:
            print(self.trainer.profiler.summary())
