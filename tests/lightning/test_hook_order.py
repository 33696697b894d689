"""The order of the hooks, as Lightning's own test has it (tests/tests_pytorch/models/test_hooks.py).

A name that begins with "C." is a callback's hook, the others are the module's.
"""

from functools import partial

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch.lightning.calls import Callback
from teachtorch.lightning.hooks import CheckpointHooks, DataHooks, ModelHooks

from .models import Regression, loader, trainer

STEPS = (
    "training_step",
    "validation_step",
    "test_step",
    "predict_step",
    "forward",
    "configure_optimizers",
    "configure_callbacks",
    "optimizer_step",
    "optimizer_zero_grad",
    "backward",
    "manual_backward",
    "configure_gradient_clipping",
    "clip_gradients",
    "lr_scheduler_step",
    "zero_grad",
)

TRANSFER = "on_before_batch_transfer transfer_batch_to_device on_after_batch_transfer "
SETUP = "configure_callbacks prepare_data C.setup setup configure_model "
FIT_START = "configure_optimizers C.on_fit_start on_fit_start zero_grad "
VALIDATION = (
    "on_validation_model_eval C.on_validation_start on_validation_start "
    "C.on_validation_epoch_start on_validation_epoch_start "
    + TRANSFER
    + "C.on_validation_batch_start on_validation_batch_start forward validation_step "
    "C.on_validation_batch_end on_validation_batch_end "
    "C.on_validation_epoch_end on_validation_epoch_end C.on_validation_end on_validation_end "
)
SANITY = "C.on_sanity_check_start val_dataloader " + VALIDATION + "C.on_sanity_check_end "
TRAIN_START = "train_dataloader C.on_train_start on_train_start C.on_train_epoch_start on_train_epoch_start "
FORWARD = TRANSFER + "C.on_train_batch_start on_train_batch_start forward training_step "
ZERO_GRAD = "C.on_before_zero_grad on_before_zero_grad optimizer_zero_grad "
BACKWARD = "C.on_before_backward on_before_backward backward C.on_after_backward on_after_backward "
STEP = (
    "C.on_before_optimizer_step on_before_optimizer_step clip_gradients configure_gradient_clipping "
    "optimizer_step "
)
BATCH_END = "C.on_train_batch_end on_train_batch_end "
END = (
    "C.on_train_epoch_end on_train_epoch_end C.state_dict C.on_save_checkpoint on_save_checkpoint "
    "C.on_train_end on_train_end C.on_fit_end on_fit_end C.teardown teardown "
)
VALIDATION_OF_EPOCH = "zero_grad on_validation_model_zero_grad " + VALIDATION
SCHEDULER = "lr_scheduler_step "


def hooks_of(*classes):
    return {
        name
        for cls in classes
        for name in vars(cls)
        if not name.startswith("_") and callable(getattr(cls, name))
    }


def recorded(name, function, called):
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        called.append(name)
        return result

    return call


class EveryHook(L.Callback):
    def __init__(self, called):
        for name in hooks_of(Callback) - {"state_dict"}:
            setattr(self, name, recorded(f"C.{name}", getattr(self, name), called))
        self.state_dict = recorded("C.state_dict", lambda: {"some": "state"}, called)


class EveryHookOfTheModule(Regression):
    """Its names are written down when the hook has returned."""

    def __init__(self, called, automatic=True):
        super().__init__(scheduler=partial(torch.optim.lr_scheduler.StepLR, step_size=1))
        self.automatic_optimization, self.called = automatic, called
        self.train_dataloader = self.val_dataloader = lambda: loader(count=4)
        self.test_dataloader = self.predict_dataloader = lambda: loader(count=4)
        for name in hooks_of(ModelHooks, DataHooks, CheckpointHooks) | set(STEPS):
            setattr(self, name, recorded(name, getattr(self, name), called))

    def training_step(self, batch, batch_idx):
        if self.automatic_optimization:
            return super().training_step(batch, batch_idx)
        loss, optimizer = self.loss(batch), self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step(lambda: self.called.append("closure"))
        return {"loss": loss}


def order(called):
    return " ".join(called) + " "


def run(tmp_path, method, model, called, **options):
    options = {
        "max_epochs": 1,
        "limit_train_batches": 2,
        "limit_val_batches": 1,
        "limit_test_batches": 1,
        "limit_predict_batches": 1,
        "enable_checkpointing": None,
        **options,
    }
    runner = trainer(tmp_path, callbacks=[EveryHook(called)], **options)
    getattr(runner, method)(model)
    return runner


def test_fit(tmp_path):
    called = []
    run(tmp_path, "fit", EveryHookOfTheModule(called), called)
    batch = FORWARD + ZERO_GRAD + BACKWARD + STEP
    assert order(called) == (
        SETUP
        + FIT_START
        + SANITY
        + TRAIN_START
        + batch
        + BATCH_END
        + batch
        + SCHEDULER
        + BATCH_END
        + VALIDATION_OF_EPOCH
        + END
    )


def test_fit_with_manual_optimization(tmp_path):
    called = []
    run(tmp_path, "fit", EveryHookOfTheModule(called, automatic=False), called)
    batch = (
        TRANSFER
        + "C.on_train_batch_start on_train_batch_start forward "
        + BACKWARD
        + "manual_backward closure "
        "C.on_before_optimizer_step on_before_optimizer_step training_step "
    )
    assert order(called) == (
        SETUP + FIT_START + SANITY + TRAIN_START + (batch + BATCH_END) * 2 + VALIDATION_OF_EPOCH + END
    )


def test_fit_with_accumulation_calls_the_closure_alone(tmp_path):
    called = []
    run(tmp_path, "fit", EveryHookOfTheModule(called), called, accumulate_grad_batches=3)
    first = FORWARD + ZERO_GRAD + BACKWARD + BATCH_END
    last = FORWARD + BACKWARD + STEP + SCHEDULER + BATCH_END
    assert order(called) == (
        SETUP + FIT_START + SANITY + TRAIN_START + first + last + VALIDATION_OF_EPOCH + END
    )


def test_resumed_fit(tmp_path):
    first = run(tmp_path, "fit", EveryHookOfTheModule([]), [], limit_val_batches=0)
    called = []
    model = EveryHookOfTheModule(called)
    runner = trainer(
        tmp_path,
        max_epochs=2,
        limit_train_batches=2,
        limit_val_batches=0,
        enable_checkpointing=None,
        callbacks=[EveryHook(called)],
    )
    runner.fit(model, ckpt_path=first.checkpoint_callback.best_model_path)
    batch = FORWARD + ZERO_GRAD + BACKWARD + STEP
    restore = "on_load_checkpoint C.on_load_checkpoint C.load_state_dict "
    assert order(called) == (
        SETUP + restore + FIT_START + TRAIN_START + batch + BATCH_END + batch + SCHEDULER + BATCH_END + END
    )


def evaluation(name):
    hooks = VALIDATION.replace("validation", name)
    loader_name = "val" if name == "validation" else name
    return SETUP + f"zero_grad {loader_name}_dataloader " + hooks + "C.teardown teardown "


def test_validate_test_and_predict(tmp_path):
    for method, name in (("validate", "validation"), ("test", "test"), ("predict", "predict")):
        called = []
        run(tmp_path, method, EveryHookOfTheModule(called), called)
        assert order(called) == evaluation(name)
