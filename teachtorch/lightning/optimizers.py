"""What configure_optimizers may return, and the optimizers as the trainer holds them.

optimizer                                       one
[first, second]                                 several: manual optimization
[optimizers], [schedulers]                      two lists
{"optimizer": ..., "lr_scheduler": scheduler}   or a dict in place of the scheduler, see SchedulerConfig
({"optimizer": ...}, {"optimizer": ...})        several such dicts
None                                            nothing is optimized
"""

import warnings
from dataclasses import dataclass, fields
from typing import Any

from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler, ReduceLROnPlateau
from .arguments import as_list
from .errors import MisconfigurationException


@dataclass
class SchedulerConfig:
    """How a scheduler is stepped: after every `frequency`-th "step" or "epoch". `monitor`: the metric it is given."""

    scheduler: Any
    interval: str = "epoch"
    frequency: int = 1
    monitor: str = None
    strict: bool = True
    name: str = None
    reduce_on_plateau: bool = False

    def __post_init__(self):
        self.reduce_on_plateau = self.reduce_on_plateau or isinstance(self.scheduler, ReduceLROnPlateau)
        if self.interval not in ("step", "epoch"):
            raise MisconfigurationException(
                f'The "interval" key in lr scheduler dict must be "step" or "epoch" but is "{self.interval}"'
            )
        if self.reduce_on_plateau and self.monitor is None:
            raise MisconfigurationException(
                "The lr scheduler dict must include a monitor when a `ReduceLROnPlateau` "
                "scheduler is used. For "
                'example: {"optimizer": optimizer, "lr_scheduler": {"scheduler": '
                'scheduler, "monitor": "your_loss"}}'
            )


def configured(result):
    """(optimizers, SchedulerConfigs) of what configure_optimizers returned."""
    optimizers, schedulers, monitor = separated(result)
    for one in optimizers:
        if not isinstance(one, Optimizer):
            raise MisconfigurationException(
                f"configure_optimizers returned {type(one).__name__} where an optimizer was expected"
            )
    return optimizers, [as_config(one, monitor) for one in schedulers]


def separated(result):
    """(optimizers, schedulers as they were given, monitor)."""
    if result is None:
        return [], [], None
    if isinstance(result, Optimizer):
        return [result], [], None
    if isinstance(result, dict):
        return from_dicts([result])
    if not isinstance(result, (list, tuple)):
        raise MisconfigurationException(
            "Unknown configuration for model optimizers. Output from "
            "`model.configure_optimizers()` should be one of: "
            "an optimizer, a list of optimizers, two lists of optimizers and schedulers, a dict with the key "
            "'optimizer', several such dicts, or None"
        )
    if result and all(isinstance(one, dict) for one in result):
        return from_dicts(result)
    if len(result) == 2 and isinstance(result[0], (list, tuple)) and all(isinstance(o, Optimizer) for o in result[0]):
        return list(result[0]), as_list(result[1]), None
    return list(result), [], None


def from_dicts(entries):
    for entry in entries:
        unknown = set(entry) - {"optimizer", "lr_scheduler", "monitor"}
        if unknown:
            warnings.warn(
                f"Found unsupported keys in the optimizer configuration: {unknown}", RuntimeWarning, stacklevel=2
            )
        if "optimizer" not in entry:
            raise MisconfigurationException(
                f'The dict that configure_optimizers returns must have the key "optimizer", it has {sorted(entry)}'
            )
    schedulers = [entry["lr_scheduler"] for entry in entries if entry.get("lr_scheduler") is not None]
    return [entry["optimizer"] for entry in entries], schedulers, entries[0].get("monitor")


def as_config(given, monitor):
    if isinstance(given, (LRScheduler, ReduceLROnPlateau)):
        return SchedulerConfig(given, monitor=monitor)
    if not isinstance(given, dict):
        return SchedulerConfig(given)
    known = {field.name for field in fields(SchedulerConfig)}
    if "scheduler" not in given:
        raise MisconfigurationException(
            'The lr scheduler dict must have the key "scheduler" with its item being an lr scheduler'
        )
    unknown = set(given) - known
    if unknown:
        raise MisconfigurationException(f"Found unsupported keys in the lr scheduler dict: {unknown}")
    return SchedulerConfig(**{"monitor": monitor, **given})


def check_schedulers(configs, optimizers, are_stepped_by_module):
    """TypeError, or MisconfigurationException, for schedulers that cannot be saved, that are strange while the
    module does not step them itself, or that belong to another optimizer.
    """
    for scheduler in (config.scheduler for config in configs):
        kind = type(scheduler).__name__
        if not (hasattr(scheduler, "state_dict") and hasattr(scheduler, "load_state_dict")):
            raise TypeError(
                f"The provided lr scheduler `{kind}` is invalid. It should have `state_dict` and "
                "`load_state_dict` methods defined."
            )
        if not isinstance(scheduler, (LRScheduler, ReduceLROnPlateau)) and not are_stepped_by_module:
            raise MisconfigurationException(
                f"The provided lr scheduler `{kind}` doesn't follow PyTorch's LRScheduler API. You should override "
                "the `LightningModule.lr_scheduler_step` hook with your own logic if you are using a custom LR "
                "scheduler."
            )
        if hasattr(scheduler, "optimizer") and all(scheduler.optimizer is not one for one in optimizers):
            raise MisconfigurationException(
                "Some schedulers are attached with an optimizer that wasn't returned from `configure_optimizers`."
            )


class LightningOptimizer:
    """An optimizer as training sees it: its step calls the hooks and is counted in global_step.

    Everything else is the optimizer's own.
    """

    def __init__(self, optimizer, trainer):
        self.__dict__.update(optimizer=optimizer, _trainer=trainer)

    def step(self, closure=None):
        """Step the optimizer. `closure`: recomputes the loss and the gradients."""
        return self._trainer.steps.optimizer(self.optimizer, closure)

    def toggle_model(self):
        """A context in which only this optimizer's parameters require gradients."""
        return Toggled(self._trainer.lightning_module, self.optimizer)

    def __getattr__(self, name):
        return getattr(self.optimizer, name)

    def __setattr__(self, name, value):
        setattr(self.optimizer, name, value)

    def __repr__(self):
        return f"Lightning{self.optimizer!r}"


class Toggled:
    """The context of LightningOptimizer.toggle_model."""

    def __init__(self, module, optimizer):
        self.module, self.optimizer = module, optimizer

    def __enter__(self):
        self.module.toggle_optimizer(self.optimizer)

    def __exit__(self, *error):
        self.module.untoggle_optimizer(self.optimizer)
