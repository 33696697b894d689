"""Callback: code that runs at the hooks of any module's training."""


class Callback:
    """Base class; each hook gets the trainer and the module first. All do nothing unless overridden.

    `state_key` names the callback's part of a checkpoint: two of one class need different ones.
    https://lightning.ai/docs/pytorch/stable/extensions/callbacks.html
    """

    watches_a_metric = False  # such callbacks run after the module in on_train_epoch_end

    @property
    def state_key(self):
        """The name of this callback's state in a checkpoint."""
        return type(self).__qualname__

    def state_dict(self):
        """What a checkpoint keeps of this callback."""
        return {}

    def load_state_dict(self, state_dict):
        """Take back what state_dict gave."""

    def setup(self, trainer, pl_module, stage):
        """Before the module's setup."""

    def teardown(self, trainer, pl_module, stage):
        """Before the module's teardown."""

    def on_fit_start(self, trainer, pl_module):
        """Fit begins."""

    def on_fit_end(self, trainer, pl_module):
        """Fit is over."""

    def on_sanity_check_start(self, trainer, pl_module):
        """Before the first few batches of validation."""

    def on_sanity_check_end(self, trainer, pl_module):
        """After them."""

    def on_train_start(self, trainer, pl_module):
        """Before the first epoch."""

    def on_train_end(self, trainer, pl_module):
        """After the last epoch."""

    def on_train_epoch_start(self, trainer, pl_module):
        """Before an epoch."""

    def on_train_epoch_end(self, trainer, pl_module):
        """After an epoch and its validation."""

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        """Before a batch."""

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        """After a batch."""

    def on_validation_start(self, trainer, pl_module):
        """Before validation."""

    def on_validation_end(self, trainer, pl_module):
        """After validation: metrics are known."""

    def on_validation_epoch_start(self, trainer, pl_module):
        """Before validation's first batch."""

    def on_validation_epoch_end(self, trainer, pl_module):
        """After validation's last batch."""

    def on_validation_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        """Before a batch."""

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        """After it."""

    def on_test_start(self, trainer, pl_module):
        """Before testing."""

    def on_test_end(self, trainer, pl_module):
        """After testing."""

    def on_test_epoch_start(self, trainer, pl_module):
        """Before testing's first batch."""

    def on_test_epoch_end(self, trainer, pl_module):
        """After testing's last batch."""

    def on_test_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        """Before a batch."""

    def on_test_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        """After it."""

    def on_predict_start(self, trainer, pl_module):
        """Before predicting."""

    def on_predict_end(self, trainer, pl_module):
        """After predicting."""

    def on_predict_epoch_start(self, trainer, pl_module):
        """Before predicting's first batch."""

    def on_predict_epoch_end(self, trainer, pl_module):
        """After predicting's last batch."""

    def on_predict_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        """Before a batch."""

    def on_predict_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        """After it."""

    def on_exception(self, trainer, pl_module, exception):
        """An error, or Ctrl-C, ends the run."""

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        """Add to a checkpoint."""

    def on_load_checkpoint(self, trainer, pl_module, checkpoint):
        """Take from a checkpoint."""

    def on_before_zero_grad(self, trainer, pl_module, optimizer):
        """Before gradients are cleared."""

    def on_before_backward(self, trainer, pl_module, loss):
        """Before backward."""

    def on_after_backward(self, trainer, pl_module):
        """After backward."""

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        """Before the parameters change."""


class LambdaCallback(Callback):
    """A callback made of functions: LambdaCallback(on_train_start=lambda trainer, module: ...)."""

    def __init__(self, **hooks):
        for name, function in hooks.items():
            if not hasattr(Callback, name):
                raise TypeError(f"Callback has no hook {name!r}")
            setattr(self, name, function)
