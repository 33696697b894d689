"""Trainer: its arguments, and what users call. A run is in `run.py`, the work itself in `loops/`."""

import math
import os

from ..determinism import use_deterministic_algorithms
from . import checkpoint as checkpoints
from .arguments import (
    apply_debugging, check_clipping, check_limits, check_supported, seconds_of, settle_epochs_and_steps,
)
from .calls import Calls
from .connectors.callbacks import callbacks_for, check_keys
from .connectors.data import DataSource
from .connectors.interrupts import Interrupts
from .connectors.randomness import RandomNumbers
from .connectors.schedulers import Schedulers
from .loggers import loggers_for
from .loops.evaluation import EvaluationLoop
from .loops.fit import FitLoop
from .loops.progress import Progress
from .loops.steps import Steps
from .metrics import Metrics
from .profilers import profiler_for
from .run import Run
from .state import TrainerState
from .strategies import strategy_for


class Trainer(TrainerState):
    """Trains, validates, tests and predicts with a LightningModule.

    How long: `max_epochs` (1000 if neither it nor max_steps is given; -1: no limit), `min_epochs`,
    `max_steps` (optimizer steps), `min_steps`, `max_time` (seconds, a timedelta or "DD:HH:MM:SS"). How much:
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
        check_supported(precision, num_nodes)
        check_clipping(gradient_clip_val, gradient_clip_algorithm)
        self.default_root_dir = os.path.abspath(os.fspath(default_root_dir or os.getcwd()))
        self.strategy = strategy_for(strategy, devices, accelerator)
        # how long and how much
        self.max_epochs, self.max_steps, self.max_time = max_epochs, max_steps, seconds_of(max_time)
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
        logger, enable_checkpointing = apply_debugging(self, logger, enable_checkpointing)
        settle_epochs_and_steps(self)
        check_limits(self)
        self.profiler = profiler_for(profiler)
        self.loggers = loggers_for(logger, self.default_root_dir)
        self.callbacks = callbacks_for(callbacks, enable_checkpointing, enable_progress_bar, enable_model_summary)
        check_keys(self.callbacks)
        if deterministic:
            use_deterministic_algorithms(True, warn_only=deterministic == "warn")
        self._make_parts()

    def _make_parts(self):
        self.lightning_module, self.optimizers, self.wrapped_optimizers = None, [], []
        self.stage, self.fn, self.should_stop, self.interrupted = None, None, False, False
        self.progress, self.random, self.interrupts = Progress(), RandomNumbers(), Interrupts()
        self.calls, self.metrics = Calls(self), Metrics(self)
        self.steps = Steps(self)
        self.data, self.schedulers = DataSource(self), Schedulers(self)
        self.fit_loop = FitLoop(self)

    # ---- what users call ----

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None):
        """Train. `ckpt_path`: go on where this checkpoint ("last": the newest one) was written."""
        train_dataloaders, datamodule = moved_datamodule(train_dataloaders, datamodule)
        self.data.attach({"train": train_dataloaders, "val": val_dataloaders}, datamodule)
        self.should_stop = False
        Run(self, "fit", model).go(ckpt_path)

    def validate(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None):
        """Validate once; returns what was logged, a dict for each loader.

        `ckpt_path`: weights, or "best", "last".
        """
        return self._evaluate("validate", "validation", "val", model, dataloaders, datamodule, ckpt_path, verbose)

    def test(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None):
        """Test once; returns what was logged, a dict for each loader."""
        return self._evaluate("test", "test", "test", model, dataloaders, datamodule, ckpt_path, verbose)

    def predict(self, model=None, dataloaders=None, datamodule=None, return_predictions=True, ckpt_path=None):
        """Predict; returns a list of what predict_step returned for each batch (of each loader, if several)."""
        found = self._evaluate("predict", "predict", "predict", model, dataloaders, datamodule, ckpt_path, False)
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
        found = Run(self, fn, model).go(ckpt_path)
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

    def stop_if_interrupted(self):
        """KeyboardInterrupt if Ctrl-C was pressed since the last time; called between batches."""
        self.interrupts.check()


def moved_datamodule(loaders, datamodule):
    """(loaders, datamodule): a data module may be passed where the loaders are."""
    from .datamodule import LightningDataModule

    return (None, loaders) if isinstance(loaders, LightningDataModule) else (loaders, datamodule)
