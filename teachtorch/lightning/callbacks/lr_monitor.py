"""LearningRateMonitor: learning rates for the loggers."""

from ..errors import MisconfigurationException
from .callback import Callback


class LearningRateMonitor(Callback):
    """Logs the learning rate of each optimizer and group.

    `logging_interval`: "step", "epoch", or None for the interval of each scheduler. `log_momentum`,
    `log_weight_decay`: these, too. `lrs` keeps everything logged: {name: list}.
    MisconfigurationException without a logger.
    """

    def __init__(self, logging_interval=None, log_momentum=False, log_weight_decay=False):
        if logging_interval not in (None, "step", "epoch"):
            raise MisconfigurationException("logging_interval should be `step` or `epoch` or `None`.")
        self.logging_interval = logging_interval
        self.log_momentum, self.log_weight_decay = log_momentum, log_weight_decay
        self.lrs = {}

    def on_train_start(self, trainer, pl_module):
        if not trainer.loggers:
            raise MisconfigurationException(
                "Cannot use `LearningRateMonitor` callback with `Trainer` that has no logger."
            )
        self.lrs = {}

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if (trainer.progress.stepped + 1) % trainer.log_every_n_steps == 0:
            self._log(trainer, "step")

    def on_train_epoch_start(self, trainer, pl_module):
        self._log(trainer, "epoch")

    def _log(self, trainer, moment):
        found = {}
        for name, optimizer, interval in named_optimizers(trainer):
            if (self.logging_interval or interval) == moment:
                found.update(self._values(name, optimizer))
        for name, value in found.items():
            self.lrs.setdefault(name, []).append(value)
        if found and trainer.is_global_zero:
            for logger in trainer.loggers:
                logger.log_metrics({"epoch": trainer.current_epoch, **found}, step=trainer.progress.stepped)

    def _values(self, name, optimizer):
        several = len(optimizer.param_groups) > 1
        for number, group in enumerate(optimizer.param_groups, 1):
            own = f"{name}/pg{number}" if several else name
            yield own, float(group["lr"])
            if self.log_momentum:
                yield f"{own}-momentum", group.get("momentum", group.get("betas", (0,))[0])
            if self.log_weight_decay:
                yield f"{own}-weight_decay", group.get("weight_decay", 0)


def named_optimizers(trainer):
    """(name, optimizer, interval of its scheduler or "step") of each; a second one of a class is lr-SGD-1."""
    configs = {
        id(config.scheduler.optimizer): config
        for config in trainer.schedulers.configs
        if hasattr(config.scheduler, "optimizer")
    }
    taken = {}
    for optimizer in trainer.optimizers:
        config = configs.get(id(optimizer))
        name = config.name if config and config.name else f"lr-{type(optimizer).__name__}"
        count = taken[name] = taken.get(name, -1) + 1
        yield name if count == 0 else f"{name}-{count}", optimizer, config.interval if config else "step"
