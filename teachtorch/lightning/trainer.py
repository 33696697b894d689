"""Trainer: takes the arguments, and sets up a run; the work itself is in `loops/`."""

import math
import os
import sys
from contextlib import ExitStack

from ..autograd.anomaly_mode import detect_anomaly
from ..determinism import use_deterministic_algorithms
from . import checkpoint as checkpoints
from .arguments import checked_limit, debugging, epochs_and_steps
from .calls import Calls
from .connectors.callbacks import callbacks_for, check_keys, with_those_of
from .connectors.data import DataSource
from .connectors.interrupts import Interrupts
from .connectors.randomness import RandomNumbers
from .connectors.schedulers import Schedulers
from .errors import MisconfigurationException
from .loggers import loggers_for
from .loops.evaluation import EvaluationLoop
from .loops.fit import FitLoop
from .loops.progress import Progress
from .metrics import Metrics
from .optimizers import LightningOptimizer, configured
from .profilers import profiler_for
from .seed import isolated_random
from .strategies import strategy_for
from .transfer import move_data

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


class Trainer:
    """Trains, validates, tests and predicts with a LightningModule.

    How long: `max_epochs` (1000 if neither it nor max_steps is given; -1: no limit), `min_epochs`,
    `max_steps` (optimizer steps), `min_steps`, `max_time` (seconds). How much:
    `limit_{train,val,test,predict}_batches` (an int: so many; a float: that part), `overfit_batches` (so
    many of the training batches, always the same), `fast_dev_run` (True: one batch of everything, nothing
    written). Validation: every `check_val_every_n_epoch` epochs, in them every `val_check_interval` (a
    float: part of the epoch, an int: batches); before training `num_sanity_val_steps` batches. Gradients:
    `accumulate_grad_batches`, `gradient_clip_val` with `gradient_clip_algorithm` "norm" or "value". Where:
    `accelerator` "auto", "cpu" or "sim"; `devices` and `strategy` "ddp" for several processes. Around it:
    `callbacks`, `logger`, `log_every_n_steps`, `enable_checkpointing`, `enable_progress_bar`,
    `enable_model_summary` (True: print the parts and their sizes), `default_root_dir`, `deterministic`,
    `detect_anomaly`, `inference_mode` (in validate, test, predict), `profiler` ("simple", "pytorch"),
    `use_distributed_sampler`, `reload_dataloaders_every_n_epochs`.

    Ctrl-C lets the batch at hand end, writes `interrupted.ckpt` beside the other checkpoints, and returns.
    https://lightning.ai/docs/pytorch/stable/common/trainer.html
    """

    def __init__(
        self,
        *,
        accelerator="auto",
        strategy="auto",
        devices="auto",
        num_nodes=1,
        precision="32-true",
        logger=None,
        callbacks=None,
        fast_dev_run=False,
        max_epochs=None,
        min_epochs=None,
        max_steps=-1,
        min_steps=None,
        max_time=None,
        limit_train_batches=1.0,
        limit_val_batches=1.0,
        limit_test_batches=1.0,
        limit_predict_batches=1.0,
        overfit_batches=0.0,
        val_check_interval=1.0,
        check_val_every_n_epoch=1,
        num_sanity_val_steps=2,
        log_every_n_steps=50,
        enable_checkpointing=None,
        enable_progress_bar=None,
        enable_model_summary=None,
        accumulate_grad_batches=1,
        gradient_clip_val=None,
        gradient_clip_algorithm=None,
        deterministic=None,
        inference_mode=True,
        use_distributed_sampler=True,
        profiler=None,
        detect_anomaly=False,
        reload_dataloaders_every_n_epochs=0,
        default_root_dir=None,
    ):
        if precision not in ("32-true", "32", 32):
            raise ValueError(f"precision={precision!r}: this trainer computes in '32-true'")
        if num_nodes != 1:
            raise MisconfigurationException(
                "num_nodes: start one process for each device with the launcher of "
                "teachtorch.distributed, on as many hosts as wanted"
            )
        if gradient_clip_algorithm not in (None, "norm", "value"):
            raise MisconfigurationException(
                f"`gradient_clip_algorithm` {gradient_clip_algorithm} is invalid. Allowed "
                "algorithms: ['value', 'norm']."
            )
        self.default_root_dir = os.path.abspath(os.fspath(default_root_dir or os.getcwd()))
        self.strategy = strategy_for(strategy, devices, accelerator)
        # how long and how much
        self.max_epochs, self.max_steps, self.max_time = max_epochs, max_steps, max_time
        self.min_epochs, self.min_steps = min_epochs, min_steps
        self.limit_train_batches, self.limit_val_batches = limit_train_batches, limit_val_batches
        self.limit_test_batches, self.limit_predict_batches = limit_test_batches, limit_predict_batches
        self.overfit_batches, self.fast_dev_run = overfit_batches, int(fast_dev_run)
        self.val_check_interval, self.check_val_every_n_epoch = val_check_interval, check_val_every_n_epoch
        self.num_sanity_val_steps = math.inf if num_sanity_val_steps == -1 else num_sanity_val_steps
        self.reload_dataloaders_every_n_epochs = reload_dataloaders_every_n_epochs
        # gradients
        self.accumulate_grad_batches, self.gradient_clip_val = accumulate_grad_batches, gradient_clip_val
        self.gradient_clip_algorithm = gradient_clip_algorithm
        # around it
        self.log_every_n_steps, self.inference_mode = log_every_n_steps, inference_mode
        self.use_distributed_sampler, self.detect_anomaly = use_distributed_sampler, detect_anomaly
        logger, enable_checkpointing = debugging(self, logger, enable_checkpointing)
        epochs_and_steps(self)
        checked_limit(self)
        self.profiler = profiler_for(profiler)
        self.loggers = loggers_for(logger, self.default_root_dir)
        self.callbacks = callbacks_for(
            callbacks, enable_checkpointing, enable_progress_bar, enable_model_summary
        )
        check_keys(self.callbacks)
        if deterministic:
            use_deterministic_algorithms(True, warn_only=deterministic == "warn")
        self._make_parts()

    def _make_parts(self):
        self.lightning_module, self.optimizers, self.wrapped_optimizers = None, [], []
        self.stage, self.fn, self.should_stop, self.interrupted = None, None, False, False
        self.progress, self.random, self.interrupts = Progress(), RandomNumbers(), Interrupts()
        self.calls, self.metrics = Calls(self), Metrics(self)
        self.data, self.schedulers = DataSource(self), Schedulers(self)
        self.fit_loop = FitLoop(self)

    # ---- what users call ----------------------------------------------------------------------------------

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None):
        """Train. `ckpt_path`: go on where this checkpoint ("last": the newest one) was written."""
        train_dataloaders, datamodule = moved_datamodule(train_dataloaders, datamodule)
        self.data.attach({"train": train_dataloaders, "val": val_dataloaders}, datamodule)
        self.should_stop = False
        self._run("fit", model, ckpt_path)

    def validate(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None):
        """Validate once; returns what was logged, a dict for each loader.

        `ckpt_path`: weights, or "best", "last".
        """
        return self._evaluate(
            "validate", "validation", "val", model, dataloaders, datamodule, ckpt_path, verbose
        )

    def test(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None):
        """Test once; returns what was logged, a dict for each loader."""
        return self._evaluate("test", "test", "test", model, dataloaders, datamodule, ckpt_path, verbose)

    def predict(self, model=None, dataloaders=None, datamodule=None, return_predictions=True, ckpt_path=None):
        """Predict; returns a list of what predict_step returned for each batch (of each loader, if
        several).
        """
        found = self._evaluate(
            "predict", "predict", "predict", model, dataloaders, datamodule, ckpt_path, False
        )
        return found if return_predictions else None

    def _evaluate(self, fn, kind, name, model, dataloaders, datamodule, ckpt_path, verbose):
        dataloaders, datamodule = moved_datamodule(dataloaders, datamodule)
        self.data.attach({name: dataloaders}, datamodule)
        model = model or self.lightning_module
        if model is None:
            raise TypeError(
                f"`Trainer.{fn}()` requires a `LightningModule` when it hasn't been passed in a previous run"
            )
        self.evaluation = EvaluationLoop(self, kind)
        found = self._run(fn, model, ckpt_path)
        if verbose and found and self.is_global_zero:
            print("\n".join(f"{name}: {value:.6g}" for values in found for name, value in values.items()))
        return found

    def save_checkpoint(self, filepath, weights_only=False):
        """Write a checkpoint of everything as it is now."""
        if self.lightning_module is None:
            raise AttributeError(
                "Saving a checkpoint is only possible if a model is attached to the Trainer. Did you call "
                "`Trainer.save_checkpoint()` before calling `Trainer.{fit,validate,test,predict}`?"
            )
        found = checkpoints.dump(self, weights_only)
        if self.is_global_zero:
            checkpoints.write(found, filepath)
        self.strategy.barrier()

    # ---- a run --------------------------------------------------------------------------------------------

    def _run(self, fn, model, ckpt_path):
        """One fit, validate, test or predict, from set-up to teardown."""
        self.fn, self.interrupted = fn, False
        with ExitStack() as around:
            around.enter_context(self.interrupts.deferred())
            if self.detect_anomaly:
                around.enter_context(detect_anomaly())
            if self.profiler is not None:
                self.profiler.start()
                around.callback(self._end_profile)
            try:
                return self._run_stage(fn, model, ckpt_path)
            except KeyboardInterrupt as error:
                self._interrupt(error)
            except BaseException as error:
                self._fail(error)
                raise
            finally:
                self.stage = None
                self.strategy.end()

    def _run_stage(self, fn, model, ckpt_path):
        self.strategy.begin()
        checkpoint = self._attach(model, fn, ckpt_path)
        self.strategy.set_up(model)
        if fn == "fit":
            self._set_up_optimizers()
            self.calls.both("on_fit_start")
            if checkpoint is not None:
                checkpoints.restore_training(self, checkpoint)
        self._log_hyperparameters()
        model.zero_grad()
        found = self._fit(checkpoint) if fn == "fit" else self._run_evaluation(fn)
        if fn == "fit":
            self.calls.both("on_fit_end")
        self._tear_down(fn, "success")
        return found

    def _attach(self, model, fn, ckpt_path):
        """Make the model part of this run; returns the checkpoint to go on from, or None."""
        self.lightning_module, model.trainer = model, self
        self.metrics.results = self.metrics.training
        self.callbacks = with_those_of(model, self.callbacks)
        check_keys(self.callbacks)
        self.calls.attach(model)
        self._prepare_data()
        path = self._checkpoint_path(ckpt_path)
        self.calls.callbacks("setup", fn)
        if self.datamodule is not None:
            self.datamodule.setup(stage=fn)
        self.calls.hook("setup", fn)
        self.calls.hook("configure_model")
        if path is None:
            return None
        checkpoint = checkpoints.read(path)
        checkpoints.restore_model(self, checkpoint)
        return checkpoint

    def _prepare_data(self):
        if self.is_global_zero:
            if self.datamodule is not None:
                self.datamodule.prepare_data()
            self.calls.hook("prepare_data")
        self.strategy.barrier()

    def _checkpoint_path(self, given):
        """The path that "best" and "last" mean."""
        if given not in ("best", "last"):
            return given
        callback = self.checkpoint_callback
        path = callback and (
            callback.best_model_path
            if given == "best"
            else callback.last_model_path or callback.best_model_path
        )
        if not path:
            raise ValueError(
                f'`ckpt_path="{given}"` is set but no checkpoint was written by a `ModelCheckpoint`'
            )
        return path

    def _set_up_optimizers(self):
        model = self.lightning_module
        self.optimizers, self.schedulers.configs = configured(self.calls.method("configure_optimizers"))
        self.wrapped_optimizers = [LightningOptimizer(one, self) for one in self.optimizers]
        if model.automatic_optimization and len(self.optimizers) > 1:
            raise RuntimeError(SEVERAL_OPTIMIZERS)
        if not model.automatic_optimization and self.gradient_clip_val:
            raise MisconfigurationException(MANUAL_CLIPPING.format(self.gradient_clip_val))
        if not model.automatic_optimization and self.accumulate_grad_batches != 1:
            raise MisconfigurationException(MANUAL_ACCUMULATION.format(self.accumulate_grad_batches))

    def _log_hyperparameters(self):
        for owner in (self.datamodule, self.lightning_module):
            if (
                owner is not None
                and owner.hparams
                and owner.__dict__.get("_log_hyperparams")
                and self.is_global_zero
            ):
                for logger in self.loggers:
                    logger.log_hyperparams(owner.hparams_initial)

    def _fit(self, checkpoint):
        self.random.loaded = None if checkpoint is None else self.random.loaded
        self.fit_loop.epoch_loop.validation.loaders = None
        if checkpoint is None:
            self._check_sanity()
        else:
            checkpoints.restore_gradients(self, checkpoint)
        self.fit_loop.run()

    def _check_sanity(self):
        """A few batches of validation before training, so that its faults do not wait for the end of an
        epoch.
        """
        if not self.has_validation or not self.num_sanity_val_steps or self.fit_loop.is_done:
            return
        self.stage = "sanity_check"
        self.calls.callbacks("on_sanity_check_start")
        with isolated_random():
            self.fit_loop.epoch_loop.validation.run(at_most=self.num_sanity_val_steps)
        self.metrics.evaluation.entries.clear()
        self.calls.callbacks("on_sanity_check_end")

    def _run_evaluation(self, fn):
        self.stage = fn
        self.evaluation.set_up_data()
        return self.evaluation.run()

    def _tear_down(self, fn, status):
        self.calls.callbacks("teardown", fn)
        if self.datamodule is not None:
            self.datamodule.teardown(stage=fn)
        self.calls.hook("teardown", fn)
        for logger in self.loggers:
            logger.finalize(status)

    # ---- ends that were not planned -----------------------------------------------------------------------

    def stop_if_interrupted(self):
        """KeyboardInterrupt if Ctrl-C was pressed since the last time; called between batches."""
        self.interrupts.check()

    def _interrupt(self, error):
        """Ctrl-C: a checkpoint, and the usual end."""
        self.interrupted = self.should_stop = True
        if self.is_global_zero:
            print("\nDetected KeyboardInterrupt, attempting graceful shutdown ...", file=sys.stderr)
        self._fail(error)
        callback = self.checkpoint_callback
        if self.fn == "fit" and callback is not None and callback.dirpath and self.optimizers:
            self.save_checkpoint(os.path.join(callback.dirpath, "interrupted.ckpt"))

    def _fail(self, error):
        if self.lightning_module is not None:
            self.calls.callbacks("on_exception", error)
        if self.datamodule is not None:
            self.datamodule.on_exception(error)
        for logger in self.loggers:
            logger.finalize("failed")

    def _end_profile(self):
        self.profiler.stop()
        if self.is_global_zero:
            print(self.profiler.summary())

    # ---- what the loops and the module use -------------------------------------------------------

    def step(self, name, *args):
        """Call training_step, validation_step...; a user may leave out its last arguments."""
        function = getattr(self.lightning_module, name)
        return self.strategy.step(self.calls.step, name, function, args)

    def training_step(self, batch, batch_idx):
        return self.step("training_step", batch, batch_idx)

    def run_backward(self, loss, *args, **kwargs):
        """Backward, with its hooks."""
        self.calls.both("on_before_backward", loss)
        self.calls.method("backward", loss, *args, **kwargs)
        self.calls.both("on_after_backward")

    def step_optimizer(self, wrapped, closure):
        """What LightningOptimizer.step does: the closure, the hooks, the update; and it is counted."""
        optimizer, automatic = wrapped.optimizer, self.lightning_module.automatic_optimization

        def closure_and_hooks():
            loss = None if closure is None else closure()
            self.calls.both("on_before_optimizer_step", optimizer)
            if automatic:
                self.calls.method(
                    "configure_gradient_clipping",
                    optimizer,
                    self.gradient_clip_val,
                    self.gradient_clip_algorithm,
                )
            return loss

        result = optimizer.step(closure_and_hooks)
        self.progress.steps += 1
        return result

    def transfer(self, batch, dataloader_idx=0):
        """The batch on the device, with the three hooks around it."""
        if self.calls.leave_batches_alone:
            return move_data(batch, self.strategy.device)
        method = self.calls.data_hook
        batch = method("on_before_batch_transfer", batch, dataloader_idx)
        batch = method("transfer_batch_to_device", batch, self.strategy.device, dataloader_idx)
        return method("on_after_batch_transfer", batch, dataloader_idx)

    # ---- what can be asked -----------------------------------------------------------------------

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
        return (
            limit != 0
            and self.calls.is_defined("validation_step")
            and model is not None
            and self.data.has("val")
        )

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


def moved_datamodule(loaders, datamodule):
    """(loaders, datamodule): a data module may be passed where the loaders are."""
    from .datamodule import LightningDataModule

    return (None, loaders) if isinstance(loaders, LightningDataModule) else (loaders, datamodule)
