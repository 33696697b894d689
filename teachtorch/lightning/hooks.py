"""The hooks of a LightningModule in the order in which they run, and what they do unless they are defined.

    Trainer.fit
        configure_callbacks  prepare_data  setup  configure_model  configure_optimizers  on_fit_start
        sanity check: the validation hooks below, for `num_sanity_val_steps` batches
        on_train_start
        for each epoch
            on_train_epoch_start
            for each batch
                on_before_batch_transfer  transfer_batch_to_device  on_after_batch_transfer
                on_train_batch_start
                optimizer_step, which calls its closure:
                    training_step
                    on_before_zero_grad  optimizer_zero_grad        the first batch of an accumulated group
                    on_before_backward  backward  on_after_backward
                    on_before_optimizer_step  configure_gradient_clipping
                    and then the optimizer updates the parameters
                lr_scheduler_step                                   interval "epoch": at the last batch
                on_train_batch_end
            validation
                on_validation_model_zero_grad  on_validation_model_eval  on_validation_start
                on_validation_epoch_start
                for each batch
                    on_before_batch_transfer  transfer_batch_to_device  on_after_batch_transfer
                    on_validation_batch_start  validation_step  on_validation_batch_end
                on_validation_epoch_end  on_validation_end
            on_train_epoch_end  (on_save_checkpoint)
        on_train_end  on_fit_end  teardown

For each hook, the callbacks of the trainer come first, then the module; only in on_train_epoch_end the
callbacks that watch a metric (EarlyStopping, ModelCheckpoint) come after the module. In a batch that only
accumulates, optimizer_step is not called: the closure runs alone.
https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#hooks
"""

from .transfer import move_data


class ModelHooks:
    """The hooks of a run; all of these do nothing unless they are overridden."""

    def on_fit_start(self):
        """Fit begins; modules and optimizers are in place."""

    def on_fit_end(self):
        """Fit is over."""

    def on_train_start(self):
        """Before the first epoch, after the sanity check."""

    def on_train_end(self):
        """After the last epoch."""

    def on_train_epoch_start(self):
        """Before the first batch of an epoch."""

    def on_train_epoch_end(self):
        """After the last batch of an epoch and its validation."""

    def on_train_batch_start(self, batch, batch_idx):
        """Before a batch is trained on. Returning -1 skips the rest of the epoch."""

    def on_train_batch_end(self, outputs, batch, batch_idx):
        """After a batch; `outputs` is what training_step returned, with the loss detached."""

    def on_validation_start(self):
        """Before validation."""

    def on_validation_end(self):
        """After validation, when its metrics are known."""

    def on_validation_epoch_start(self):
        """Before the first batch of validation."""

    def on_validation_epoch_end(self):
        """After the last batch of validation; self.log here is still part of it."""

    def on_validation_batch_start(self, batch, batch_idx, dataloader_idx=0):
        """Before a batch of validation."""

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        """After a batch of validation."""

    def on_test_start(self):
        """Before testing."""

    def on_test_end(self):
        """After testing."""

    def on_test_epoch_start(self):
        """Before the first batch of testing."""

    def on_test_epoch_end(self):
        """After the last batch of testing."""

    def on_test_batch_start(self, batch, batch_idx, dataloader_idx=0):
        """Before a batch of testing."""

    def on_test_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        """After a batch of testing."""

    def on_predict_start(self):
        """Before predicting."""

    def on_predict_end(self):
        """After predicting."""

    def on_predict_epoch_start(self):
        """Before the first batch of predicting."""

    def on_predict_epoch_end(self):
        """After the last batch of predicting."""

    def on_predict_batch_start(self, batch, batch_idx, dataloader_idx=0):
        """Before a batch of predicting."""

    def on_predict_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        """After a batch of predicting."""

    def on_before_zero_grad(self, optimizer):
        """Between the forward and the gradients of the last step being cleared."""

    def on_before_backward(self, loss):
        """Before backward; `loss` is divided by accumulate_grad_batches."""

    def on_after_backward(self):
        """After backward: gradients are there, not clipped yet."""

    def on_before_optimizer_step(self, optimizer):
        """Before the parameters change, and before gradients are clipped."""

    def configure_model(self):
        """Build large parts of the model here; called before configure_optimizers."""

    # ---- modes: these have something to do -------------------------------------------------------

    def on_validation_model_zero_grad(self):
        """Free the gradients before validation."""
        self.zero_grad()

    def on_validation_model_eval(self):
        """Evaluation mode for validation; afterwards each part gets back the mode that it had."""
        self.eval()

    def on_test_model_eval(self):
        """Evaluation mode for testing."""
        self.eval()

    def on_predict_model_eval(self):
        """Evaluation mode for predicting."""
        self.eval()


class DataHooks:
    """Where the data comes from; LightningModule and LightningDataModule have these."""

    def prepare_data(self):
        """Download and the like. Runs in one process only: do not assign attributes here."""

    def setup(self, stage):
        """Make the datasets. Runs in every process; `stage` is "fit", "validate", "test" or "predict"."""

    def teardown(self, stage):
        """The end of a run."""

    def train_dataloader(self):
        """The DataLoader to train with."""
        raise NotImplementedError("`train_dataloader` must be implemented to be used with the Lightning Trainer")

    def val_dataloader(self):
        """The DataLoader to validate with, or a list of them."""
        raise NotImplementedError("`val_dataloader` must be implemented to be used with the Lightning Trainer")

    def test_dataloader(self):
        """The DataLoader to test with, or a list of them."""
        raise NotImplementedError("`test_dataloader` must be implemented to be used with the Lightning Trainer")

    def predict_dataloader(self):
        """The DataLoader to predict with, or a list of them."""
        raise NotImplementedError("`predict_dataloader` must be implemented to be used with the Lightning Trainer")

    def on_before_batch_transfer(self, batch, dataloader_idx):
        """Change a batch before it moves to the device."""
        return batch

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        """Move a batch: tensors in lists, tuples and dicts."""
        return move_data(batch, device)

    def on_after_batch_transfer(self, batch, dataloader_idx):
        """Change a batch on the device."""
        return batch


class CheckpointHooks:
    """What is added to a checkpoint and read from it."""

    def on_save_checkpoint(self, checkpoint):
        """Add to the dict before it is written."""

    def on_load_checkpoint(self, checkpoint):
        """Take from the dict before the weights are loaded."""
