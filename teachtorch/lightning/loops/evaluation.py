"""Validation, testing and predicting: batches without a graph."""

import math

from ...autograd.grad_mode import inference_mode, no_grad
from ..arguments import as_list
from ..connectors import data
from .fetcher import Fetcher

STAGES = {"validation": "val", "test": "test", "predict": "predict"}


class EvaluationLoop:
    """Runs the batches of all loaders of one kind: "validation", "test" or "predict"."""

    def __init__(self, trainer, kind):
        self.trainer, self.calls, self.kind = trainer, trainer.calls, kind
        self.loaders, self.limits, self.predictions = None, None, None

    def set_up_data(self):
        """Find the loaders, and how many batches of each are taken."""
        trainer, name = self.trainer, STAGES[self.kind]
        self.loaders = [
            data.prepared(trainer, one, is_training=False) for one in as_list(trainer.data.loader(name))
        ]
        limit = getattr(trainer, f"limit_{name}_batches")
        self.limits = [data.limit_of(limit, one, f"{name}_dataloader") for one in self.loaders]

    def run(self, at_most=math.inf):
        """All batches, or `at_most` so many of each loader.

        Returns what was logged, a dict for each loader, or the predictions.
        """
        trainer = self.trainer
        if self.loaders is None:
            self.set_up_data()
        self.at_most = at_most
        before = trainer.metrics.results
        trainer.metrics.results = trainer.metrics.evaluation
        trainer.metrics.evaluation.clear()
        modes = [(part, part.training) for part in trainer.lightning_module.modules()]
        self.calls.method(f"on_{self.kind}_model_eval")
        try:
            with no_grad() if trainer.is_fitting or not trainer.inference_mode else inference_mode():
                return self._run_all()
        finally:
            trainer.metrics.results = before
            for part, flag in modes:
                part.training = flag

    def _run_all(self):
        self.calls.both(f"on_{self.kind}_start")
        self.calls.both(f"on_{self.kind}_epoch_start")
        self.predictions = [[] for _ in self.loaders]
        for number in range(len(self.loaders)):
            self._run_loader(number)
        self.calls.both(f"on_{self.kind}_epoch_end")
        found = self._results()
        if self.trainer.is_fitting and not self.trainer.sanity_checking:
            self.trainer.progress.position = "validated"
        self.calls.both(f"on_{self.kind}_end")
        return found

    def _run_loader(self, number):
        loader, limit = self.loaders[number], min(self.limits[number], self.at_most)
        for index, batch in enumerate(Fetcher(loader, limit)):
            self._run_batch(batch, index, number)
            self.trainer.stop_if_interrupted()

    def _run_batch(self, batch, index, number):
        calls, kind, metrics = self.calls, self.kind, self.trainer.metrics
        several = (number,) if len(self.loaders) > 1 else ()
        batch = self.trainer.steps.transfer(batch, number)
        metrics.begin_batch(batch, number if several else None)
        calls.both(f"on_{kind}_batch_start", batch, index, *several)
        outputs = self.trainer.steps.run(f"{kind}_step", batch, index, *several)
        if kind == "predict":
            self.predictions[number].append(outputs)
        calls.both(f"on_{kind}_batch_end", outputs, batch, index, *several)
        if not self.trainer.sanity_checking and metrics.evaluation.entries:
            metrics.write("step", index)
        metrics.end_batch()
        metrics.evaluation.step += 1

    def _results(self):
        """Of predict the predictions, else what was logged; which goes to the loggers, too."""
        if self.kind == "predict":
            return self.predictions[0] if len(self.predictions) == 1 else self.predictions
        metrics = self.trainer.metrics
        values = metrics.epoch_values()
        if not self.trainer.sanity_checking:
            metrics.gather()
            metrics.write("epoch", self.trainer.progress.stepped)
        return [own(values, number, len(self.loaders)) for number in range(len(self.loaders))]


def own(values, number, count):
    """Of all values those of one loader, and those that belong to none."""
    if count == 1:
        return values
    mark = "/dataloader_idx_"
    return {
        name: value for name, value in values.items() if mark not in name or name.endswith(f"{mark}{number}")
    }
