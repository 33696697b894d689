"""The steps that loops and modules ask for: a user's step, backward, an update, a batch on its device."""

from ..transfer import move_data


class Steps:
    """Each with the hooks around it."""

    def __init__(self, trainer):
        self.trainer, self.calls = trainer, trainer.calls

    def run(self, name, *args):
        """Call training_step, validation_step...; a user may leave out its last arguments."""
        function = getattr(self.trainer.lightning_module, name)
        return self.trainer.strategy.step(self.calls.step, name, function, args)

    def backward(self, loss, *args, **kwargs):
        """Backward, with its hooks."""
        self.calls.both("on_before_backward", loss)
        self.calls.method("backward", loss, *args, **kwargs)
        self.calls.both("on_after_backward")

    def optimizer(self, optimizer, closure):
        """What LightningOptimizer.step does: the closure, the hooks, the update; and it is counted."""

        def closure_and_hooks():
            loss = None if closure is None else closure()
            self.calls.both("on_before_optimizer_step", optimizer)
            if self.trainer.lightning_module.automatic_optimization:
                self._clip(optimizer)
            return loss

        result = optimizer.step(closure_and_hooks)
        self.trainer.progress.steps += 1
        return result

    def _clip(self, optimizer):
        """Clip, or let the module do it; nothing, where there is nothing to do and nobody to be told."""
        value, algorithm = self.trainer.gradient_clip_val, self.trainer.gradient_clip_algorithm
        if value or not self.calls.are_default("configure_gradient_clipping", "clip_gradients"):
            self.calls.method("configure_gradient_clipping", optimizer, value, algorithm)

    def transfer(self, batch, dataloader_idx=0):
        """The batch on the device, with the three hooks around it."""
        device = self.trainer.strategy.device
        if self.calls.leave_batches_alone:
            return move_data(batch, device)
        hook = self.calls.data_hook
        batch = hook("on_before_batch_transfer", batch, dataloader_idx)
        batch = hook("transfer_batch_to_device", batch, device, dataloader_idx)
        return hook("on_after_batch_transfer", batch, dataloader_idx)
