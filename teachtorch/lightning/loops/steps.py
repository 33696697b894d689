"""The steps that loops and modules ask for: a user's step, backward, an update, a batch on its device."""

from ..transfer import move_data


class Steps:
    """Each with the hooks around it."""

    def __init__(self, trainer):
        self.trainer, self.calls = trainer, trainer.calls

    def run(self, name, *args):
        """Call training_step, validation_step...; a user may leave out its last arguments."""
        return self.trainer.strategy.step(self.calls.step, name, args)

    def backward(self, loss, *args, **kwargs):
        """Backward, with its hooks."""
        calls = self.calls
        wanted = calls.wanted()
        if "on_before_backward" in wanted:
            calls.both("on_before_backward", loss)
        if "backward" in wanted:
            calls.method("backward", loss, *args, **kwargs)
        else:
            before, calls.current = calls.current, "backward"
            loss.backward(*args, **kwargs)
            calls.current = before
        if "on_after_backward" in wanted:
            calls.both("on_after_backward")

    def optimizer(self, optimizer, closure):
        """What LightningOptimizer.step does: the closure, the hooks, the update; and it is counted."""

        trainer, wanted = self.trainer, self.calls.wanted()

        def closure_and_hooks():
            loss = None if closure is None else closure()
            if "on_before_optimizer_step" in wanted:
                self.calls.both("on_before_optimizer_step", optimizer)
            if trainer.gradient_clip_val or "clipping" in wanted:
                self._clip(optimizer)
            return loss

        result = optimizer.step(closure_and_hooks)
        trainer.progress.steps += 1
        return result

    def _clip(self, optimizer):
        """Have the module clip; in manual optimization it does so itself."""
        trainer = self.trainer
        if trainer.lightning_module.automatic_optimization:
            value, algorithm = trainer.gradient_clip_val, trainer.gradient_clip_algorithm
            self.calls.method("configure_gradient_clipping", optimizer, value, algorithm)

    def transfer(self, batch, dataloader_idx=0):
        """The batch on the device, with the three hooks around it."""
        device = self.trainer.strategy.device
        if "transfer" not in self.calls.wanted():
            return move_data(batch, device)
        hook = self.calls.data_hook
        batch = hook("on_before_batch_transfer", batch, dataloader_idx)
        batch = hook("transfer_batch_to_device", batch, device, dataloader_idx)
        return hook("on_after_batch_transfer", batch, dataloader_idx)
