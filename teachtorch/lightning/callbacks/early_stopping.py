"""EarlyStopping: end training when a metric no longer improves."""

import math

from ...ops.declare import exports
from .callback import Callback

tensor = exports[""]["tensor"]
MISSING = (
    "Early stopping conditioned on metric `{}` which is not available. Pass in or modify "
    "your `EarlyStopping` "
    "callback to use any of the following: `{}`"
)


class EarlyStopping(Callback):
    """Stops when `monitor` has not improved in `patience` checks one after another.

    A check is an end of validation, or of an epoch: with val_check_interval=0.25, patience=3 is less than
    an epoch. `min_delta`: what counts as better. `mode`: "min" or "max". `strict`: whether a missing metric
    is an error (RuntimeError). `check_finite`: NaN or infinity stops at once. `stopping_threshold`: good
    enough; `divergence_threshold`: too bad. `check_on_train_epoch_end`: when to check; None: at the end of
    the epoch if validation runs once in each, else after validation.
    https://lightning.ai/docs/pytorch/stable/api/lightning.pytorch.callbacks.EarlyStopping.html
    """

    watches_a_metric = True

    def __init__(
        self,
        monitor,
        min_delta=0.0,
        patience=3,
        verbose=False,
        mode="min",
        strict=True,
        check_finite=True,
        stopping_threshold=None,
        divergence_threshold=None,
        check_on_train_epoch_end=None,
    ):
        if mode not in ("min", "max"):
            raise ValueError(f"`mode` can be max, min, got {mode}")
        self.monitor, self.patience, self.verbose, self.mode, self.strict = (monitor, patience, verbose, mode, strict)
        self.min_delta = abs(min_delta)
        self.check_finite = check_finite
        self.stopping_threshold, self.divergence_threshold = stopping_threshold, divergence_threshold
        self.wait_count, self.stopped_epoch = 0, 0
        self.best_score = tensor(math.inf if mode == "min" else -math.inf)
        self.stopping_reason_message = None
        self._on_train_epoch_end = check_on_train_epoch_end

    @property
    def state_key(self):
        return f"EarlyStopping{{'monitor': {self.monitor!r}, 'mode': {self.mode!r}}}"

    def state_dict(self):
        return {
            "wait_count": self.wait_count,
            "stopped_epoch": self.stopped_epoch,
            "best_score": self.best_score,
            "patience": self.patience,
        }

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    # ---- when ---------------------------------------------------------------------------------------------

    def setup(self, trainer, pl_module, stage):
        if self._on_train_epoch_end is None:
            self._on_train_epoch_end = trainer.val_check_interval == 1.0 and trainer.check_val_every_n_epoch == 1

    def on_train_epoch_end(self, trainer, pl_module):
        if self._on_train_epoch_end:
            self._check(trainer)

    def on_validation_end(self, trainer, pl_module):
        if not self._on_train_epoch_end and trainer.is_fitting and not trainer.sanity_checking:
            self._check(trainer)

    # ---- the check ----------------------------------------------------------------------------------------

    def _check(self, trainer):
        score = trainer.callback_metrics.get(self.monitor)
        if score is None:
            if self.strict:
                raise RuntimeError(MISSING.format(self.monitor, "`, `".join(trainer.callback_metrics)))
            return
        should_stop, reason = self._judge(score)
        trainer.should_stop = trainer.strategy.any(trainer.should_stop or should_stop)
        if should_stop:
            self.stopped_epoch, self.stopping_reason_message = trainer.current_epoch, reason
        if reason and self.verbose and trainer.is_global_zero:
            print(reason)

    def _judge(self, score):
        """(whether to stop, why or what happened)."""
        value = float(score)
        if self.check_finite and not math.isfinite(value):
            return (
                True,
                f"Monitored metric {self.monitor} = {value} is not finite. Previous best value was "
                f"{float(self.best_score):.3f}. Signaling Trainer to stop.",
            )
        if self.stopping_threshold is not None and self._is_better(value, self.stopping_threshold):
            return True, f"Stopping threshold reached: {self.monitor} = {value}. Signaling Trainer to stop."
        if self.divergence_threshold is not None and self._is_better(self.divergence_threshold, value):
            return True, f"Divergence threshold reached: {self.monitor} = {value}. Signaling Trainer to stop."
        if self._is_better(value, float(self.best_score), self.min_delta):
            self.best_score, self.wait_count = score, 0
            return False, f"Metric {self.monitor} improved. New best score: {value:.3f}"
        self.wait_count += 1
        if self.wait_count >= self.patience:
            return (
                True,
                f"Monitored metric {self.monitor} did not improve in the last "
                f"{self.wait_count} records. Best "
                f"score: {float(self.best_score):.3f}. Signaling Trainer to stop.",
            )
        return False, None

    def _is_better(self, value, than, by=0.0):
        return value < than - by if self.mode == "min" else value > than + by
