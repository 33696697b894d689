"""ModelCheckpoint: when checkpoints are written, which are kept, and what they are called."""

import math
import os
import re
import time

from ...ops.declare import exports
from ..errors import MisconfigurationException
from .callback import Callback

tensor = exports[""]["tensor"]
MISSING = (
    "`ModelCheckpoint(monitor={!r})` could not find the monitored key in the returned "
    "metrics: {}. HINT: Did you call "
    "`log({!r}, value)` in the `LightningModule`?"
)
FIELD = re.compile(r"\{([^:}]+)(:[^}]*)?\}")


class ModelCheckpoint(Callback):
    """Writes checkpoints and keeps the best `save_top_k` by `monitor` (-1: all, 0: none).

    Without `monitor` the newest one is kept. `filename`: with {epoch}, {step} and {metric:.2f}; names are
    put before the values ("epoch=3-step=40.ckpt"). `save_last`: a copy of the newest as last.ckpt. One of
    `every_n_train_steps`, `every_n_epochs` and `train_time_interval` (a timedelta) says when; else at the
    end of each epoch, or after validation where that does not come once an epoch
    (`save_on_train_epoch_end`). `best_model_path`, `best_model_score`, `best_k_models`, `last_model_path`,
    `kth_best_model_path` tell the result.
    https://lightning.ai/docs/pytorch/stable/api/lightning.pytorch.callbacks.ModelCheckpoint.html
    """

    watches_a_metric = True
    FILE_EXTENSION, CHECKPOINT_NAME_LAST = ".ckpt", "last"

    def __init__(
        self,
        dirpath=None,
        filename=None,
        monitor=None,
        verbose=False,
        save_last=None,
        save_top_k=1,
        save_weights_only=False,
        mode="min",
        auto_insert_metric_name=True,
        every_n_train_steps=None,
        train_time_interval=None,
        every_n_epochs=None,
        save_on_train_epoch_end=None,
    ):
        self.dirpath = None if dirpath is None else os.path.abspath(os.fspath(dirpath))
        self.filename, self.monitor, self.mode = filename, monitor, mode
        self.verbose, self.save_last, self.save_top_k = verbose, save_last, save_top_k
        self.save_weights_only, self.auto_insert_metric_name = save_weights_only, auto_insert_metric_name
        self.train_time_interval, self._on_train_epoch_end = train_time_interval, save_on_train_epoch_end
        self._set_triggers(every_n_train_steps, every_n_epochs)
        self._check_arguments()
        self.best_k_models, self.best_model_path, self.last_model_path = {}, "", ""
        self.best_model_score = self.current_score = None
        self._last_step_saved, self._last_time = -1, None

    def _set_triggers(self, every_n_train_steps, every_n_epochs):
        given = [one for one in (every_n_train_steps, every_n_epochs, self.train_time_interval) if one]
        if len(given) > 1:
            raise MisconfigurationException(
                "every_n_train_steps, every_n_epochs and train_time_interval should be mutually exclusive"
            )
        is_left_to_us = every_n_train_steps is every_n_epochs is self.train_time_interval is None
        self.every_n_epochs = 1 if is_left_to_us else every_n_epochs or 0
        self.every_n_train_steps = every_n_train_steps or 0

    def _check_arguments(self):
        if self.mode not in ("min", "max"):
            raise MisconfigurationException(f"`mode` can be min, max, but got {self.mode}")
        if self.save_top_k < -1:
            raise MisconfigurationException(f"Invalid value for save_top_k={self.save_top_k}. Must be >= -1")
        if self.monitor is None and self.save_top_k not in (-1, 0, 1):
            raise MisconfigurationException(
                f"ModelCheckpoint(save_top_k={self.save_top_k}, monitor=None) is not a valid "
                "configuration. No quantity for top_k to track."
            )

    # ---- state --------------------------------------------------------------------------------------------

    @property
    def state_key(self):
        return (
            f"ModelCheckpoint{{'monitor': {self.monitor!r}, 'mode': {self.mode!r}, 'every_n_train_steps': "
            f"{self.every_n_train_steps}, 'every_n_epochs': {self.every_n_epochs}}}"
        )

    def state_dict(self):
        names = ("monitor", "best_model_score", "best_model_path", "current_score", "dirpath", "last_model_path")
        return {
            **{name: getattr(self, name) for name in names},
            "best_k_models": dict(self.best_k_models),
            "last_step_saved": self._last_step_saved,
        }

    def load_state_dict(self, state_dict):
        """Known files are taken over where the folder is the same; else only what the best one was."""
        if state_dict["dirpath"] == self.dirpath:
            self.best_k_models = dict(state_dict["best_k_models"])
            self.last_model_path = state_dict["last_model_path"]
            self.best_model_score = state_dict["best_model_score"]
            self._last_step_saved = state_dict["last_step_saved"]
        self.best_model_path = state_dict["best_model_path"]

    @property
    def kth_best_model_path(self):
        """The worst of those kept."""
        return self._worst() if self.best_k_models else ""

    @property
    def kth_value(self):
        """Its score."""
        return self.best_k_models.get(self.kth_best_model_path)

    # ---- when ---------------------------------------------------------------------------------------------

    def setup(self, trainer, pl_module, stage):
        if self.dirpath is None:
            log_dir = trainer.log_dir if trainer.loggers else None
            self.dirpath = os.path.join(log_dir or trainer.default_root_dir, "checkpoints")
        self.dirpath = trainer.strategy.broadcast(self.dirpath)

    def on_train_start(self, trainer, pl_module):
        self._last_time = time.monotonic()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        step = trainer.global_step
        due = self.every_n_train_steps and step % self.every_n_train_steps == 0 and step > 0
        if self.train_time_interval is not None:
            now = time.monotonic()
            due = trainer.strategy.broadcast(now - self._last_time >= self.train_time_interval.total_seconds())
            self._last_time = now if due else self._last_time
        if due and not self._is_saved(trainer):
            self._save(trainer)

    def on_train_epoch_end(self, trainer, pl_module):
        if self._saves_at_epoch_end(trainer):
            self._save_if_epoch_is_due(trainer)

    def on_validation_end(self, trainer, pl_module):
        if trainer.is_fitting and not trainer.sanity_checking and not self._saves_at_epoch_end(trainer):
            self._save_if_epoch_is_due(trainer)

    def _save_if_epoch_is_due(self, trainer):
        every = self.every_n_epochs
        if every and (trainer.current_epoch + 1) % every == 0 and not self._is_saved(trainer):
            self._save(trainer)

    def _is_saved(self, trainer):
        return self._last_step_saved == trainer.global_step

    def _saves_at_epoch_end(self, trainer):
        if self._on_train_epoch_end is not None:
            return self._on_train_epoch_end
        if not trainer.has_validation:
            return True
        return trainer.check_val_every_n_epoch == 1 and trainer.val_check_interval == 1.0

    # ---- which --------------------------------------------------------------------------------------------

    def _save(self, trainer):
        """Save if it is among the best, and as the last one."""
        metrics = {**trainer.callback_metrics, "epoch": trainer.current_epoch, "step": trainer.global_step}
        if self.save_top_k != 0:
            if self.monitor is None:
                self._save_newest(trainer, metrics)
            else:
                self._save_if_among_best(trainer, metrics)
        if self.save_last:
            self._save_as_last(trainer, metrics)

    def _save_newest(self, trainer, metrics):
        path = self._free_path(self.format_checkpoint_name(metrics), trainer, self.best_model_path)
        before, self.best_model_path = self.best_model_path, path
        self._write(trainer, path)
        if self.save_top_k == 1 and before and before != path:
            self._remove(trainer, before)

    def _save_if_among_best(self, trainer, metrics):
        if self.monitor not in metrics:
            raise MisconfigurationException(MISSING.format(self.monitor, list(metrics), self.monitor))
        self.current_score = score = self._comparable(metrics[self.monitor])
        if not self.check_monitor_top_k(score):
            return
        dropped = self._worst() if len(self.best_k_models) == self.save_top_k else None
        path = self._free_path(self.format_checkpoint_name(metrics), trainer, dropped)
        if dropped is not None:
            del self.best_k_models[dropped]
        self.best_k_models[path] = score
        self.best_model_path = self._best()
        self.best_model_score = self.best_k_models[self.best_model_path]
        self._write(trainer, path)
        if dropped is not None and dropped != path:
            self._remove(trainer, dropped)

    def _comparable(self, value):
        """The score as a tensor; NaN counts as the worst there is."""
        number = float(value)
        if math.isnan(number):
            number = math.inf if self.mode == "min" else -math.inf
        return tensor(number)

    def check_monitor_top_k(self, current):
        """Whether this score belongs to the best save_top_k."""
        if self.save_top_k == -1 or len(self.best_k_models) < self.save_top_k:
            return True
        worst = self.best_k_models[self._worst()]
        return bool(current < worst) if self.mode == "min" else bool(current > worst)

    def _best(self):
        return (min if self.mode == "min" else max)(
            self.best_k_models, key=lambda path: float(self.best_k_models[path])
        )

    def _worst(self):
        return (max if self.mode == "min" else min)(
            self.best_k_models, key=lambda path: float(self.best_k_models[path])
        )

    def _save_as_last(self, trainer, metrics):
        path = os.path.join(self.dirpath, self.CHECKPOINT_NAME_LAST + self.FILE_EXTENSION)
        self.last_model_path = path
        self._write(trainer, path)

    def _write(self, trainer, path):
        self._last_step_saved = trainer.global_step
        trainer.save_checkpoint(path, self.save_weights_only)

    @staticmethod
    def _remove(trainer, path):
        if trainer.is_global_zero and os.path.exists(path):
            os.remove(path)

    # ---- names --------------------------------------------------------------------------------------------

    def format_checkpoint_name(self, metrics, filename=None, ver=None):
        """The path for these metrics."""
        pattern = filename or self.filename or "{epoch}-{step}"
        name = FIELD.sub(lambda found: self._field(found, metrics), pattern)
        name += "" if ver is None else f"-v{ver}"
        return os.path.join(self.dirpath or "", name + self.FILE_EXTENSION)

    def _field(self, found, metrics):
        name, form = found[1], found[2] or ""
        value = metrics.get(name, 0)
        value = value.item() if hasattr(value, "item") else value
        text = format(value, form[1:])
        return f"{name}={text}" if self.auto_insert_metric_name else text

    def _free_path(self, path, trainer, replaced):
        """The path, or with -v1, -v2... if there is such a file; `replaced` is one that may go."""
        stem, version = path.removesuffix(self.FILE_EXTENSION), 1
        while trainer.strategy.broadcast(os.path.exists(path)) and path != replaced:
            path = f"{stem}-v{version}{self.FILE_EXTENSION}"
            version += 1
        return path
