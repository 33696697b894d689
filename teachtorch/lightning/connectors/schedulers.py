"""Stepping learning rate schedulers after batches and epochs."""

from ..errors import MisconfigurationException

MISSING = (
    "ReduceLROnPlateau conditioned on metric {} which is not available. Available metrics "
    "are: {}. Condition can be "
    "set using `monitor` key in lr scheduler dict"
)


class Schedulers:
    """The schedulers of a run, as SchedulerConfigs. In manual optimization the module steps them itself."""

    def __init__(self, trainer):
        self.trainer, self.configs = trainer, []

    def update(self, interval, plateau):
        """Step those of this interval whose turn it is.

        `plateau`: those that watch a metric, or all others.
        """
        trainer = self.trainer
        if not self.configs or not trainer.lightning_module.automatic_optimization:
            return
        count = trainer.progress.batch if interval == "step" else trainer.progress.epoch + 1
        for config in self.configs:
            if config.interval == interval and config.reduce_on_plateau == plateau and count % config.frequency == 0:
                self._step(config)

    def _step(self, config):
        metric = None
        if config.reduce_on_plateau:
            metric = self.trainer.callback_metrics.get(config.monitor)
            if metric is None:
                if config.strict:
                    raise MisconfigurationException(MISSING.format(config.monitor, list(self.trainer.callback_metrics)))
                return
        self.trainer.calls.method("lr_scheduler_step", config.scheduler, metric)
