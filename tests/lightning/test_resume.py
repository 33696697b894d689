"""A run that goes on from a checkpoint has the losses of the run that was not interrupted, bit for bit."""

import random
import signal
from functools import partial

import numpy
import pytest

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch.lightning.callbacks import LambdaCallback, ModelCheckpoint

from .models import Regression, loader, trainer

ADAM = partial(torch.optim.Adam, lr=0.05)
COSINE = partial(torch.optim.lr_scheduler.CosineAnnealingLR, T_max=7)


class Noisy(Regression):
    """Draws from all three generators, and keeps the weights after every batch."""

    def __init__(self, **options):
        super().__init__(dropout=0.3, optimizer=ADAM, **options)

    def training_step(self, batch, batch_idx):
        loss = super().training_step(batch, batch_idx)
        return loss * (1 + 0.1 * random.random() + 0.1 * numpy.random.rand())


def outcome(model, runner):
    weights = [p.tolist() for p in model.parameters()]
    return weights, float(runner.callback_metrics["loss_epoch"]), runner.optimizers[0].param_groups[0]["lr"]


def run(folder, callbacks=(), model=None, ckpt_path=None, data=None, **options):
    model = model or Noisy(scheduler=COSINE)
    L.seed_everything(5, verbose=False)
    options = {"max_epochs": 3, **options}
    runner = trainer(folder, callbacks=list(callbacks), **options)
    runner.fit(model, loader(16, shuffle=True) if data is None else data, loader(4), ckpt_path=ckpt_path)
    return model, runner


def resumed_equals_uninterrupted(tmp_path, checkpoint, done, name, data=None, **options):
    """Run with the callback `checkpoint`, go on from its file `name`, after whose `done` batches it was written."""
    make = data or (lambda: loader(16, shuffle=True))
    whole, runner = run(tmp_path, [checkpoint], data=make(), **options)
    torch.manual_seed(99)  # whatever has happened meanwhile
    options["enable_checkpointing"] = False
    fresh = Noisy(scheduler=COSINE)
    again = trainer(tmp_path, **{"max_epochs": 3, **options})
    again.fit(fresh, make(), loader(4), ckpt_path=tmp_path / name)
    assert fresh.losses == whole.losses[done:] and fresh.losses
    assert outcome(fresh, again) == outcome(whole, runner)
    assert again.global_step == runner.global_step and again.progress == runner.progress


def saving(tmp_path, hook, when, name="x.ckpt"):
    """A callback that writes a checkpoint at a hook, the first time that `when(trainer)` says so."""
    path = tmp_path / name

    def save(trainer, *args):
        if when(trainer) and not path.exists() and not trainer.sanity_checking:
            trainer.save_checkpoint(path)

    return LambdaCallback(**{hook: save})


def test_after_an_epoch(tmp_path):
    checkpoint = ModelCheckpoint(dirpath=tmp_path, filename="{epoch}", save_top_k=-1)
    resumed_equals_uninterrupted(tmp_path, checkpoint, 8, "epoch=0.ckpt", enable_checkpointing=None)


def test_in_the_middle_of_an_epoch(tmp_path):
    checkpoint = ModelCheckpoint(dirpath=tmp_path, filename="{step}", save_top_k=-1, every_n_train_steps=3)
    resumed_equals_uninterrupted(tmp_path, checkpoint, 12, "step=12.ckpt", enable_checkpointing=None)


@pytest.mark.parametrize(
    ("hook", "batch", "done"),
    [
        ("on_train_batch_end", 1, 10),
        ("on_validation_end", 5, 14),
        ("on_train_batch_end", 7, 16),
        ("on_train_epoch_end", 7, 16),
    ],
)
def test_at_every_hook_with_validation_inside_the_epoch(tmp_path, hook, batch, done):
    callback = saving(tmp_path, hook, lambda t: t.current_epoch == 1 and t.batch_idx == batch)
    resumed_equals_uninterrupted(tmp_path, callback, done, "x.ckpt", val_check_interval=0.25)


class Drawing(torch.utils.data.Dataset):
    """Samples that are different each time they are asked for."""

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.randn(4) + index, torch.randn(1)


@pytest.mark.parametrize(("epoch", "batch"), [(0, 0), (1, 0), (1, 2), (2, 3)])
@pytest.mark.parametrize("kind", ["a sampler that draws", "samples that draw", "a stream"])
def test_at_the_start_of_a_batch(tmp_path, kind, epoch, batch):
    """The batch is fetched, with random numbers that are drawn no second time."""

    def make():
        if kind == "a sampler that draws":
            return loader(16, shuffle=True)
        rows = Stream() if kind == "a stream" else Drawing()
        return torch.utils.data.DataLoader(rows, batch_size=2)

    callback = saving(
        tmp_path, "on_train_batch_start", lambda t: (t.current_epoch, t.progress.batch) == (epoch, batch)
    )
    batches = 4 if kind == "a stream" else 8  # of an epoch
    resumed_equals_uninterrupted(tmp_path, callback, batches * epoch + batch, "x.ckpt", data=make)


def test_in_the_middle_of_a_group_of_accumulated_batches(tmp_path):
    callback = saving(tmp_path, "on_train_batch_end", lambda t: t.current_epoch == 1 and t.batch_idx == 4)
    resumed_equals_uninterrupted(tmp_path, callback, 13, "x.ckpt", accumulate_grad_batches=3)


def test_with_a_generator_of_the_loader(tmp_path):
    def make():
        generator = torch.Generator()
        generator.manual_seed(1)
        return loader(16, shuffle=True, generator=generator)

    callback = saving(tmp_path, "on_train_batch_end", lambda t: t.current_epoch == 1 and t.batch_idx == 2)
    resumed_equals_uninterrupted(tmp_path, callback, 11, "x.ckpt", data=make)


def test_with_worker_processes(tmp_path):
    def make():
        return loader(16, shuffle=True, num_workers=1, multiprocessing_context="fork")

    callback = saving(tmp_path, "on_train_batch_end", lambda t: t.current_epoch == 0 and t.batch_idx == 4)
    resumed_equals_uninterrupted(tmp_path, callback, 5, "x.ckpt", data=make, max_epochs=1)


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        for k in range(7):
            yield torch.randn(4) + k, torch.randn(1)


def test_with_a_stream_of_unknown_length(tmp_path):
    callback = saving(tmp_path, "on_train_batch_end", lambda t: t.current_epoch == 1 and t.batch_idx == 1)
    resumed_equals_uninterrupted(
        tmp_path, callback, 6, "x.ckpt", data=lambda: torch.utils.data.DataLoader(Stream(), 2)
    )


def test_plateau_schedulers_go_on_with_their_metric(tmp_path):
    def plateau(optimizer):
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, factor=0.5, patience=0, threshold=10.0
        )
        return {"scheduler": scheduler, "monitor": "val_loss"}

    def model():
        return Regression(dropout=0.3, optimizer=ADAM, scheduler=plateau)

    checkpoint = ModelCheckpoint(dirpath=tmp_path, filename="{epoch}", save_top_k=-1)
    whole, runner = run(tmp_path, [checkpoint], model(), enable_checkpointing=None, max_epochs=4)
    fresh, again = run(tmp_path, model=model(), ckpt_path=tmp_path / "epoch=1.ckpt", max_epochs=4)
    assert outcome(fresh, again) == outcome(whole, runner)
    assert outcome(fresh, again)[2] < 0.05


def test_training_longer_than_planned_equals_planning_it(tmp_path):
    longer, _ = run(tmp_path, max_epochs=4)
    checkpoint = ModelCheckpoint(dirpath=tmp_path, save_last=True)
    run(tmp_path, [checkpoint], max_epochs=2, enable_checkpointing=None)
    rest, _ = run(tmp_path, ckpt_path=tmp_path / "last.ckpt", max_epochs=4)
    assert rest.losses == longer.losses[16:]


# ---- Ctrl-C --------------------------------------------------------------------------------------


def pressing(batch, how):
    """A callback that interrupts in the second epoch, once."""
    pressed = []

    def press(trainer, module, *args):
        if trainer.current_epoch == 1 and trainer.batch_idx == batch and not pressed:
            pressed.append(batch)
            how()

    return press


@pytest.mark.parametrize("hook", ["on_train_batch_start", "on_after_backward", "on_validation_batch_start"])
def test_ctrl_c_ends_cleanly_and_goes_on_bit_for_bit(tmp_path, hook):
    def ctrl_c():
        signal.raise_signal(signal.SIGINT)

    whole, whole_runner = run(tmp_path, val_check_interval=0.5)
    checkpoint = ModelCheckpoint(dirpath=tmp_path)
    ends = []
    callbacks = [
        checkpoint,
        LambdaCallback(on_exception=lambda trainer, module, error: ends.append(type(error))),
    ]
    callbacks.append(LambdaCallback(**{hook: pressing(3, ctrl_c)}))
    cut, runner = run(tmp_path, callbacks, enable_checkpointing=None, val_check_interval=0.5)
    assert runner.interrupted and ends == [KeyboardInterrupt] and len(cut.losses) == 12
    rest, rest_runner = run(tmp_path, ckpt_path=tmp_path / "interrupted.ckpt", val_check_interval=0.5)
    assert cut.losses + rest.losses == whole.losses
    assert outcome(rest, rest_runner) == outcome(whole, whole_runner)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_keyboard_interrupt_raised_in_a_step_leaves_a_checkpoint_of_the_batches_before(tmp_path):
    class Interrupted(Noisy):
        def training_step(self, batch, batch_idx):
            if self.current_epoch == 1 and batch_idx == 3:
                raise KeyboardInterrupt
            return super().training_step(batch, batch_idx)

    cut, runner = run(
        tmp_path,
        [ModelCheckpoint(dirpath=tmp_path)],
        Interrupted(scheduler=COSINE),
        enable_checkpointing=None,
    )
    assert runner.interrupted and runner.global_step == 11
    whole, _ = run(tmp_path)
    rest, _ = run(tmp_path, ckpt_path=tmp_path / "interrupted.ckpt")
    assert cut.losses + rest.losses == whole.losses


def test_other_errors_are_raised_and_told_to_the_callbacks(tmp_path):
    class Broken(Noisy):
        def training_step(self, batch, batch_idx):
            raise ArithmeticError("broken")

    told = []
    with pytest.raises(ArithmeticError, match="broken"):
        run(
            tmp_path,
            [LambdaCallback(on_exception=lambda trainer, module, error: told.append(str(error)))],
            Broken(scheduler=COSINE),
        )
    assert told == ["broken"]


def test_a_checkpoint_holds_what_lightning_s_does(tmp_path):
    _, runner = run(tmp_path, max_epochs=1)
    runner.save_checkpoint(tmp_path / "x.ckpt")
    found = torch.load(tmp_path / "x.ckpt", weights_only=True)
    assert {
        "epoch",
        "global_step",
        "pytorch-lightning_version",
        "state_dict",
        "loops",
        "callbacks",
        "optimizer_states",
        "lr_schedulers",
    } <= set(found)
    assert (found["epoch"], found["global_step"]) == (1, 8)
    runner.save_checkpoint(tmp_path / "weights.ckpt", weights_only=True)
    assert "optimizer_states" not in torch.load(tmp_path / "weights.ckpt")


def test_a_checkpoint_of_weights_alone_is_refused(tmp_path):
    runner = trainer(tmp_path, max_epochs=1)
    runner.fit(Regression(), loader())
    runner.save_checkpoint(tmp_path / "weights.ckpt", weights_only=True)
    with pytest.raises(KeyError, match="checkpoint contains only the model"):
        trainer(tmp_path, max_epochs=2).fit(Regression(), loader(), ckpt_path=tmp_path / "weights.ckpt")


def test_other_optimizers_than_the_checkpoint_s_are_refused(tmp_path):
    runner, other = trainer(tmp_path, max_epochs=1), Regression()
    runner.fit(Regression(), loader())
    runner.save_checkpoint(tmp_path / "one.ckpt")
    other.configure_optimizers = lambda: None
    with pytest.raises(
        ValueError, match=r"states of 1 optimizer\(s\), but `configure_optimizers` has returned 0"
    ):
        trainer(tmp_path, max_epochs=2).fit(other, loader(), ckpt_path=tmp_path / "one.ckpt")
