"""One batch of training: forward, backward, and a step of the optimizer if it is time for one."""

from functools import partial

from ...autograd.detached import detached
from ...tensor import Tensor
from ..errors import MisconfigurationException


class AutomaticOptimization:
    """The trainer does everything: the optimizer's step is given a closure that does forward and backward."""

    def __init__(self, trainer):
        self.trainer, self.calls = trainer, trainer.calls
        self.outputs = None

    def run(self, batch, batch_idx, accumulates):
        """What training_step returned, its loss detached. `accumulates`: gradients are only added up."""
        trainer, calls, self.outputs = self.trainer, self.calls, None
        closure = partial(self.forward_and_backward, batch, batch_idx)
        if accumulates:
            with trainer.strategy.no_sync():
                closure()
        elif not trainer.optimizers:
            closure()
        elif "optimizer_step" in calls.wanted():
            optimizer = trainer.wrapped_optimizers[0]
            calls.method("optimizer_step", trainer.progress.epoch, batch_idx, optimizer, closure)
        else:
            trainer.steps.optimizer(trainer.optimizers[0], closure)
        return self.outputs

    def forward_and_backward(self, batch, batch_idx):
        """The loss, with its gradients computed; None if training_step skips the batch."""
        trainer = self.trainer
        output = trainer.strategy.step(self.calls.step, "training_step", (batch, batch_idx))
        loss, self.outputs = separated(output)
        count = trainer.accumulate_grad_batches
        if batch_idx % count == 0:
            for optimizer in trainer.optimizers[:1]:
                self._zero_grad(optimizer, batch_idx)
        if loss is None:
            return None
        trainer.steps.backward(loss / count if count > 1 else loss)
        return self.outputs["loss"]

    def _zero_grad(self, optimizer, batch_idx):
        """Here, between forward and backward: gradients of the last step could be looked at until now."""
        calls = self.calls
        wanted = calls.wanted()
        if "on_before_zero_grad" in wanted:
            calls.both("on_before_zero_grad", optimizer)
        if "optimizer_zero_grad" in wanted:
            calls.method("optimizer_zero_grad", self.trainer.progress.epoch, batch_idx, optimizer)
        else:
            optimizer.zero_grad()


class ManualOptimization:
    """training_step does everything itself."""

    def __init__(self, trainer):
        self.trainer = trainer

    def run(self, batch, batch_idx, accumulates):
        output = self.trainer.steps.run("training_step", batch, batch_idx)
        return separated(output, needs_loss=False)[1]


def separated(output, needs_loss=True):
    """(loss, outputs) of what training_step returned; `outputs` holds no graph."""
    if output is None:
        return None, {}
    if isinstance(output, Tensor):
        return output, {"loss": detached(output)}
    if not isinstance(output, dict):
        kind = "automatic_optimization" if needs_loss else "manual optimization"
        raise MisconfigurationException(
            f"In {kind}, `training_step` must return a Tensor, a dict, or None (where the step will be "
            f"skipped), got {type(output).__name__}"
        )
    if "loss" not in output:
        if not needs_loss:
            return None, output
        raise MisconfigurationException(
            "In automatic_optimization, when `training_step` returns a dict, the 'loss' key "
            "needs to be present"
        )
    loss = output["loss"]
    return loss, {**output, "loss": loss.detach() if hasattr(loss, "detach") else loss}
