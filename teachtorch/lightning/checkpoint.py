"""Checkpoints: everything that a run needs to go on as if it had not been interrupted.

epoch, global_step            where it is state_dict                    the module's parameters and buffers
optimizer_states, lr_schedulers loops                         progress, sums of the epoch's metrics,
gradients of a group that is not complete random                        random numbers at the epoch's start
and now: with them, the place in the samplers' order callbacks                     their state_dicts, by
state_key hyper_parameters, hparams_name, datamodule
"""

import os

from ..serialization import load, save
from .errors import MisconfigurationException
from .hyperparameters import chosen_for

LAYOUT = "2.6.0"  # the Lightning release whose names the dict uses
ONLY_WEIGHTS = (
    "Trying to restore optimizer state but checkpoint contains only the model. This is probably due to "
    "`ModelCheckpoint.save_weights_only` being set to `True`."
)
HYPERPARAMETERS, DATAMODULE = "hyper_parameters", "datamodule_hyper_parameters"


# ---- writing -------------------------------------------------------------------------------------


def dump(trainer, weights_only=False):
    """The checkpoint of a trainer, as a dict."""
    module, progress = trainer.lightning_module, trainer.progress
    checkpoint = {
        "epoch": progress.epoch,
        "global_step": progress.steps,
        "pytorch-lightning_version": LAYOUT,
        "state_dict": module.state_dict(),
    }
    if not weights_only:
        checkpoint.update(training_state(trainer))
    for name, owner in ((HYPERPARAMETERS, module), (DATAMODULE, trainer.datamodule)):
        if owner is not None and owner.hparams:
            checkpoint[name] = dict(owner.hparams)
    if not weights_only:
        trainer.calls.callbacks("on_save_checkpoint", checkpoint)
    trainer.calls.hook("on_save_checkpoint", checkpoint)
    return checkpoint


def training_state(trainer):
    """All of a checkpoint but the weights."""
    loops = {
        "progress": trainer.progress.state_dict(),
        "metrics": trainer.metrics.state_dict(),
        "gradients": unfinished_gradients(trainer),
    }
    state = {
        "callbacks": {each.state_key: each.state_dict() for each in trainer.callbacks},
        "loops": loops,
        "optimizer_states": [optimizer.state_dict() for optimizer in trainer.optimizers],
        "lr_schedulers": [config.scheduler.state_dict() for config in trainer.schedulers.configs],
        "random": trainer.random.state_dict(
            trainer.progress.position, trainer.fit_loop.loader, trainer.fit_loop.epoch_loop.fetcher
        ),
    }
    if trainer.datamodule is not None:
        state[type(trainer.datamodule).__qualname__] = trainer.datamodule.state_dict()
    return state


def unfinished_gradients(trainer):
    """Gradients that have been accumulated, but not stepped with: only in the middle of a group of batches."""
    module, progress = trainer.lightning_module, trainer.progress
    if not module.automatic_optimization or progress.batch % trainer.accumulate_grad_batches == 0:
        return {}
    return {name: p.grad for name, p in module.named_parameters() if p.grad is not None}


def write(checkpoint, path):
    """Write the file in one piece: under another name first, so that an interrupted write spoils nothing."""
    path = os.fspath(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    part = f"{path}.part"
    save(checkpoint, part)
    os.replace(part, path)


# ---- reading -------------------------------------------------------------------------------------


def read(path, map_location=None, weights_only=None):
    """The checkpoint in a file. Unpickled in full unless `weights_only`: open only files that you trust."""
    return load(path, map_location=map_location or "cpu", weights_only=bool(weights_only))


def restore_model(trainer, checkpoint):
    """Weights, data module and, for fit, callbacks: before the optimizers are made."""
    if not isinstance(checkpoint, dict) or "state_dict" not in checkpoint:
        raise KeyError("the file is no checkpoint of a Trainer: there is no 'state_dict' in it")
    module, datamodule = trainer.lightning_module, trainer.datamodule
    trainer.calls.hook("on_load_checkpoint", checkpoint)
    if datamodule is not None and type(datamodule).__qualname__ in checkpoint:
        datamodule.load_state_dict(checkpoint[type(datamodule).__qualname__])
    module.load_state_dict(checkpoint["state_dict"])
    if not trainer.is_fitting:
        return
    trainer.calls.callbacks("on_load_checkpoint", checkpoint)
    for callback in trainer.callbacks:
        if checkpoint.get("callbacks", {}).get(callback.state_key):
            callback.load_state_dict(checkpoint["callbacks"][callback.state_key])


def restore_training(trainer, checkpoint):
    """Optimizers, schedulers, progress and random numbers: fit goes on from there."""
    if "optimizer_states" not in checkpoint:
        raise KeyError(ONLY_WEIGHTS)
    schedulers = [config.scheduler for config in trainer.schedulers.configs]
    for what, made, states in (
        ("optimizer", trainer.optimizers, checkpoint["optimizer_states"]),
        ("lr scheduler", schedulers, checkpoint["lr_schedulers"]),
    ):
        if len(made) != len(states):
            raise ValueError(
                f"the checkpoint has the states of {len(states)} {what}(s), but `configure_optimizers` has "
                f"returned {len(made)}"
            )
        for one, state in zip(made, states):
            one.load_state_dict(state)
    loops = checkpoint["loops"]
    trainer.progress.load_state_dict(loops["progress"])
    if trainer.max_epochs != -1 and trainer.current_epoch > trainer.max_epochs:
        raise MisconfigurationException(
            f"You restored a checkpoint with current_epoch={trainer.current_epoch}, but you have set "
            f"Trainer(max_epochs={trainer.max_epochs})."
        )
    trainer.metrics.load_state_dict(loops["metrics"])
    trainer.random.load_state_dict(checkpoint["random"])


def restore_gradients(trainer, checkpoint):
    """Gradients of a group of batches in whose middle the checkpoint was written."""
    for name, parameter in trainer.lightning_module.named_parameters():
        if name in checkpoint["loops"]["gradients"]:
            parameter.grad = checkpoint["loops"]["gradients"][name].to(parameter.device)


def load_module(cls, path, map_location, strict, weights_only, kwargs):
    """What LightningModule.load_from_checkpoint does."""
    checkpoint = read(path, map_location, weights_only)
    module = cls(**chosen_for(cls, checkpoint.get(HYPERPARAMETERS, {}), kwargs))
    module.on_load_checkpoint(checkpoint)
    module.load_state_dict(checkpoint["state_dict"], strict=True if strict is None else strict)
    return module


def load_datamodule(cls, path, map_location, weights_only, kwargs):
    """What LightningDataModule.load_from_checkpoint does."""
    checkpoint = read(path, map_location, weights_only)
    module = cls(**chosen_for(cls, checkpoint.get(DATAMODULE, {}), kwargs))
    if cls.__qualname__ in checkpoint:
        module.load_state_dict(checkpoint[cls.__qualname__])
    return module
