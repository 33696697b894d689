"""LightningModule: the model together with what is done with a batch, and how it is optimized."""

import weakref

from ..core.device import device as Device
from ..nn import Module
from ..nn.utils import clip_grad_norm_, clip_grad_value_
from .checkpoint import load_module
from .errors import MisconfigurationException
from .hooks import CheckpointHooks, DataHooks, ModelHooks
from .hyperparameters import HyperparametersMixin

UNATTACHED = "{} is not attached to a `Trainer`."


class LightningModule(ModelHooks, DataHooks, CheckpointHooks, HyperparametersMixin, Module):
    """A Module with a training_step and a configure_optimizers; a Trainer does the rest.

    `automatic_optimization`: False, and training_step calls `self.optimizers()`,
    `self.manual_backward(loss)` and `optimizer.step()` itself. `example_input_array` is kept for the user.
    The hooks and their order: `hooks.py`.
    https://lightning.ai/docs/pytorch/stable/common/lightning_module.html
    """

    def __init__(self):
        super().__init__()
        self.automatic_optimization = True
        self.example_input_array = None
        self._trainer = None

    # ---- the run it is part of ----------------------------------------------------------------------------

    @property
    def trainer(self):
        """The Trainer that runs this module. RuntimeError without one."""
        trainer = self._trainer and self._trainer()
        if trainer is None:
            raise RuntimeError(UNATTACHED.format(type(self).__qualname__))
        return trainer

    @trainer.setter
    def trainer(self, trainer):
        self._trainer = None if trainer is None else weakref.ref(trainer)

    @property
    def current_epoch(self):
        """Epochs completed; 0 without a trainer."""
        return self.trainer.current_epoch if self._trainer else 0

    @property
    def global_step(self):
        """Optimizer steps taken, over all optimizers and epochs; 0 without a trainer."""
        return self.trainer.global_step if self._trainer else 0

    @property
    def global_rank(self):
        """The number of this process; 0 without a trainer."""
        return self.trainer.global_rank if self._trainer else 0

    @property
    def logger(self):
        """The first logger of the trainer, or None."""
        return self.trainer.logger if self._trainer else None

    @property
    def device(self):
        """The device of the first parameter or buffer."""
        for tensor in (*self.parameters(), *self.buffers()):
            return tensor.device
        return Device("cpu")

    def __getstate__(self):
        return {**self.__dict__, "_trainer": None}

    # ---- what a user writes -------------------------------------------------------------------------------

    def training_step(self, batch, batch_idx):
        """The loss of a batch: a tensor, a dict with "loss", or None to skip the batch."""
        raise MisconfigurationException("`training_step` must be implemented to be used with the Lightning Trainer")

    def validation_step(self, batch, batch_idx):
        """What is done with a batch of validation; usually it logs."""
        raise MisconfigurationException("`validation_step` must be implemented to be used with the Lightning Trainer")

    def test_step(self, batch, batch_idx):
        """What is done with a batch of testing."""
        raise MisconfigurationException("`test_step` must be implemented to be used with the Lightning Trainer")

    def predict_step(self, batch, batch_idx, dataloader_idx=0):
        """The prediction for a batch; self(batch) unless overridden."""
        return self(batch)

    def configure_optimizers(self):
        """The optimizer, and schedulers if wanted; see `optimizers.py` for the forms it may take."""
        raise MisconfigurationException(
            "`configure_optimizers` must be implemented to be used with the Lightning Trainer"
        )

    def configure_callbacks(self):
        """Callbacks that come with this module; one replaces the trainer's of the same class."""
        return []

    # ---- one optimizer step, in automatic optimization -----------------------------------------------------

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        """Step the optimizer; the closure does forward, zero_grad and backward."""
        optimizer.step(closure=optimizer_closure)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        """Clear the gradients of the step before."""
        optimizer.zero_grad()

    def backward(self, loss, *args, **kwargs):
        """loss.backward()"""
        loss.backward(*args, **kwargs)

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        """Clip the gradients of `optimizer` before its step, as the trainer was told."""
        self.clip_gradients(
            optimizer, gradient_clip_val=gradient_clip_val, gradient_clip_algorithm=gradient_clip_algorithm
        )

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        """Clip by "norm" (of all gradients together) or "value" (each number); None, or up to 0, clips nothing."""
        value = self.trainer.gradient_clip_val if gradient_clip_val is None else gradient_clip_val
        if not value or value <= 0:
            return
        algorithm = gradient_clip_algorithm or self.trainer.gradient_clip_algorithm or "norm"
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        (clip_grad_value_ if algorithm == "value" else clip_grad_norm_)(parameters, value)

    def lr_scheduler_step(self, scheduler, metric):
        """Step a scheduler; one that watches a metric gets it."""
        scheduler.step() if metric is None else scheduler.step(metric)

    # ---- manual optimization -------------------------------------------------------------------------------

    def optimizers(self):
        """The optimizer, or the list of them; each counts its steps and calls the hooks before them."""
        found = self.trainer.wrapped_optimizers
        return found[0] if len(found) == 1 else found

    def lr_schedulers(self):
        """The scheduler, the list of them, or None."""
        found = [config.scheduler for config in self.trainer.lr_scheduler_configs]
        return (found[0] if len(found) == 1 else found) or None

    def manual_backward(self, loss, *args, **kwargs):
        """Backward with its hooks, in manual optimization."""
        if self.automatic_optimization:
            raise MisconfigurationException(
                "After calling `manual_backward`, set "
                "`self.automatic_optimization = False` in your LightningModule's __init__"
            )
        self.trainer.steps.backward(loss, *args, **kwargs)

    def toggle_optimizer(self, optimizer):
        """Only the parameters of this optimizer require gradients, until untoggle_optimizer."""
        own = {id(p) for group in optimizer.param_groups for p in group["params"]}
        self._toggled = [(p, p.requires_grad) for p in self.parameters()]
        for p, flag in self._toggled:
            p.requires_grad_(flag and id(p) in own)

    def untoggle_optimizer(self, optimizer):
        """Give every parameter back its requires_grad."""
        for p, flag in self.__dict__.pop("_toggled", ()):
            p.requires_grad_(flag)

    # ---- logging -------------------------------------------------------------------------------------------

    def log(
        self,
        name,
        value,
        prog_bar=False,
        logger=True,
        on_step=None,
        on_epoch=None,
        reduce_fx="mean",
        enable_graph=False,
        sync_dist=False,
        sync_dist_group=None,
        add_dataloader_idx=True,
        batch_size=None,
        metric_attribute=None,
        rank_zero_only=False,
    ):
        """Log a number under `name`: after this step, over the epoch, or both.

        In training_step the default is on_step, in validation_step and test_step on_epoch. `reduce_fx`:
        "mean" (of samples: weighted by `batch_size`, else by the first tensor of the batch), "sum", "min",
        "max" or a function. MisconfigurationException in a hook where it has no meaning.
        """
        trainer = self._trainer and self._trainer()
        if trainer is None:
            raise RuntimeError(
                "You are trying to `self.log()` but the `self.trainer` reference is not registered on "
                "the model yet. This is most likely because the model hasn't been passed to the "
                "`Trainer`"
            )
        trainer.metrics.log(
            name, value, prog_bar, logger, on_step, on_epoch, reduce_fx, sync_dist, add_dataloader_idx, batch_size
        )

    def log_dict(self, dictionary, **options):
        """Log each entry; options as in log."""
        for name, value in dictionary.items():
            self.log(name, value, **options)

    def print(self, *args, **kwargs):
        """print, in the process of rank 0 only."""
        if self.global_rank == 0:
            print(*args, **kwargs)

    # ---- freezing and loading --------------------------------------------------------------------

    def freeze(self):
        """No parameter requires a gradient, and all of the module is in evaluation mode."""
        self.requires_grad_(False)
        self.eval()

    def unfreeze(self):
        """All parameters require gradients, and all of the module is in training mode."""
        self.requires_grad_(True)
        self.train()

    @classmethod
    def load_from_checkpoint(
        cls, checkpoint_path, map_location=None, hparams_file=None, strict=None, weights_only=None, **kwargs
    ):
        """The module of a checkpoint: made with its saved hyperparameters (`kwargs` replace some), with its weights.

        The file is unpickled in full unless `weights_only`: open only files that you trust.
        """
        return load_module(cls, checkpoint_path, map_location, strict, weights_only, kwargs)
