"""The trainer's arguments: what they may be, and what one makes of another."""

import re
from datetime import timedelta

from .errors import MisconfigurationException

WRITTEN_TIME = re.compile(r"(\d+):(\d\d):(\d\d):(\d\d)")


def as_list(given):
    """A list of what may have been given as one thing or as several."""
    return list(given) if isinstance(given, (list, tuple)) else [given]


def check_supported(precision, num_nodes):
    """ValueError, MisconfigurationException for what Lightning has and this trainer has not."""
    if precision not in ("32-true", "32", 32):
        raise ValueError(f"precision={precision!r}: this trainer computes in '32-true'")
    if num_nodes != 1:
        raise MisconfigurationException(
            "num_nodes: start one process for each device with the launcher of "
            "teachtorch.distributed, on as many hosts as wanted"
        )


def check_clipping(value, algorithm):
    """TypeError unless `value` is a number or None; MisconfigurationException for an unknown algorithm."""
    if value is not None and not isinstance(value, (int, float)):
        raise TypeError(f"`gradient_clip_val` should be an int or a float. Got {value}.")
    if algorithm not in (None, "norm", "value"):
        raise MisconfigurationException(
            f"`gradient_clip_algorithm` {algorithm} is invalid. Allowed algorithms: ['value', 'norm']."
        )


def seconds_of(given):
    """A time limit in seconds, None for none: of a number, a timedelta, its arguments as a dict, or "DD:HH:MM:SS"."""
    if isinstance(given, str):
        found = WRITTEN_TIME.fullmatch(given.strip())
        if not found:
            raise MisconfigurationException(
                f"`max_time`: {given!r} is not a valid duration; write it as DD:HH:MM:SS"
            )
        given = dict(zip(("days", "hours", "minutes", "seconds"), map(int, found.groups())))
    given = timedelta(**given) if isinstance(given, dict) else given
    return given.total_seconds() if isinstance(given, timedelta) else given


def apply_debugging(trainer, logger, enable_checkpointing):
    """fast_dev_run and overfit_batches change the other limits. Returns (logger, enable_checkpointing)."""
    if trainer.overfit_batches:
        trainer.limit_train_batches = trainer.limit_val_batches = trainer.overfit_batches
    if not trainer.fast_dev_run:
        return logger, enable_checkpointing
    for name in ("train", "val", "test", "predict"):
        setattr(trainer, f"limit_{name}_batches", trainer.fast_dev_run)
    trainer.max_epochs, trainer.max_steps, trainer.num_sanity_val_steps = 1, trainer.fast_dev_run, 0
    trainer.val_check_interval, trainer.check_val_every_n_epoch = 1.0, 1
    return False, False


def settle_epochs_and_steps(trainer):
    """Without any limit max_epochs is 1000; with one of steps or time it is -1."""
    if trainer.max_epochs is None:
        has_limit = trainer.max_steps != -1 or trainer.max_time is not None
        trainer.max_epochs = -1 if has_limit else 1000
    if trainer.max_epochs < -1:
        raise MisconfigurationException(
            f"`max_epochs` must be a non-negative integer or -1. You passed in {trainer.max_epochs}."
        )
    if trainer.max_steps < -1:
        raise MisconfigurationException(
            "`max_steps` must be a non-negative integer or -1 (infinite steps). You passed in "
            f"{trainer.max_steps}."
        )


LIMITS = (
    "limit_train_batches", "limit_val_batches", "limit_test_batches", "limit_predict_batches", "overfit_batches",
    "val_check_interval",
)


def check_limits(trainer):
    """MisconfigurationException unless a float is a part from 0 to 1, an int a number from 0."""
    for name in LIMITS:
        value = getattr(trainer, name)
        is_right = value >= 0 and (isinstance(value, int) or value <= 1.0)
        if not is_right:
            raise MisconfigurationException(
                f"You have passed invalid value {value} for {name}, it has to be in [0.0, 1.0] or an int."
            )
    if trainer.check_val_every_n_epoch is None and isinstance(trainer.val_check_interval, float):
        raise MisconfigurationException(
            "`val_check_interval` should be an integer when `check_val_every_n_epoch=None`, "
            f"found {trainer.val_check_interval}."
        )
    if isinstance(trainer.val_check_interval, int) and trainer.val_check_interval == 0:
        raise MisconfigurationException(
            "`val_check_interval=0`: it has to be an int from 1, or a float; with `limit_val_batches=0` "
            "nothing is validated"
        )
    if trainer.accumulate_grad_batches < 1:
        raise ValueError(
            f"`accumulate_grad_batches` must be an int from 1, got {trainer.accumulate_grad_batches}"
        )
