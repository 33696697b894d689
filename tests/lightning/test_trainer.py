"""The trainer's arguments, logging, evaluation, data modules, and the module's own tools."""

import csv
import math
from datetime import timedelta

import pytest

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch.core import observer
from teachtorch.lightning.callbacks import LambdaCallback, ProgressBar, TQDMProgressBar
from teachtorch.lightning.loggers import CSVLogger, TensorBoardLogger
from teachtorch.utils.data import DataLoader

from .models import Regression, dataset, loader, trainer


def batches_seen(tmp_path, train=16, validation=8, **options):
    """(training batches, validation batches) of a fit of loaders with these many samples."""
    seen = {"train": 0, "validation": 0}

    def count(name):
        def hook(trainer, *args):
            seen[name] += not trainer.sanity_checking

        return hook

    callback = LambdaCallback(on_train_batch_end=count("train"), on_validation_batch_end=count("validation"))
    runner = trainer(tmp_path, callbacks=[callback], **{"max_epochs": 1, **options})
    runner.fit(Regression(), loader(train), loader(validation))
    return seen["train"], seen["validation"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (8, 4)),
        ({"limit_train_batches": 3}, (3, 4)),
        ({"limit_train_batches": 0.5}, (4, 4)),
        ({"limit_val_batches": 1}, (8, 1)),
        ({"limit_val_batches": 0}, (8, 0)),
        ({"limit_train_batches": 99}, (8, 4)),
        ({"val_check_interval": 0.25}, (8, 16)),
        ({"val_check_interval": 3}, (8, 8)),
        ({"check_val_every_n_epoch": 2, "max_epochs": 3}, (24, 4)),
        ({"check_val_every_n_epoch": None, "val_check_interval": 5, "max_epochs": 2}, (16, 12)),
        ({"fast_dev_run": True}, (1, 1)),
        ({"fast_dev_run": 2}, (2, 2)),
        ({"overfit_batches": 2}, (2, 2)),
        ({"max_steps": 3}, (3, 0)),
        ({"max_epochs": 2, "max_steps": 99}, (16, 8)),
        ({"max_epochs": 0}, (0, 0)),
        ({"max_time": 1000}, (8, 4)),
        ({"max_time": "00:01:00:00"}, (8, 4)),
        ({"max_time": {"hours": 1}}, (8, 4)),
        ({"max_time": timedelta(hours=1)}, (8, 4)),
        ({"max_time": 0}, (0, 0)),
    ],
)
def test_how_much_is_run(tmp_path, options, expected):
    assert batches_seen(tmp_path, **options) == expected


def test_the_sanity_check_comes_first_and_leaves_no_trace(tmp_path):
    seen = []
    callback = LambdaCallback(on_validation_batch_end=lambda t, *args: seen.append(t.sanity_checking))
    runner = trainer(tmp_path, max_epochs=1, callbacks=[callback])
    torch.manual_seed(0)
    with_check = Regression(dropout=0.5)
    runner.fit(with_check, loader(shuffle=True), loader(12))
    assert seen == [True, True] + [False] * 6
    torch.manual_seed(0)
    without = Regression(dropout=0.5)
    trainer(tmp_path, max_epochs=1, num_sanity_val_steps=0).fit(without, loader(shuffle=True), loader(12))
    assert without.losses == with_check.losses


def test_validation_runs_without_a_graph_in_evaluation_mode_and_gives_modes_back(tmp_path):
    seen = []

    class Watches(Regression):
        def validation_step(self, batch, batch_idx):
            seen.append((self.training, self.layer[0].training, self(batch[0]).requires_grad))

    model = Watches(dropout=0.5)
    model.layer[0].eval()
    trainer(tmp_path, max_epochs=1).fit(model, loader(), loader(2))
    assert set(seen) == {(False, False, False)}
    assert model.training and not model.layer[0].training


@pytest.mark.parametrize(
    "options",
    [
        {"limit_train_batches": -1},
        {"limit_val_batches": 1.5},
        {"max_epochs": -2},
        {"max_steps": -2},
        {"profiler": "best"},
        {"check_val_every_n_epoch": None},
        {"gradient_clip_algorithm": "max"},
        {"num_nodes": 2},
        {"accelerator": "gpu"},
        {"val_check_interval": 0},
        {"max_time": "an hour"},
    ],
)
def test_impossible_arguments(tmp_path, options):
    with pytest.raises(L.MisconfigurationException):
        trainer(tmp_path, **options)


@pytest.mark.parametrize("given", [torch.nn.Linear(4, 1), None, Regression])
def test_what_is_no_module_is_refused(tmp_path, given):
    with pytest.raises(TypeError, match="`model` must be a `LightningModule`, got"):
        trainer(tmp_path, max_epochs=1).fit(given, loader())


def test_what_is_no_callback_is_refused(tmp_path):
    with pytest.raises(TypeError, match="expected a Callback in `callbacks`, got int"):
        trainer(tmp_path, callbacks=[3])


def test_what_is_no_loss_is_refused(tmp_path):
    model = Regression()
    model.training_step = lambda batch, batch_idx: 1.0
    with pytest.raises(
        L.MisconfigurationException, match="must return a Tensor, a dict, or None .* got float"
    ):
        trainer(tmp_path, max_epochs=1).fit(model, loader())


def test_limits_that_give_no_batch_say_so(tmp_path):
    with pytest.raises(L.MisconfigurationException, match="0.1 of the `train_dataloader` but 0.1 \\* 4 < 1"):
        trainer(tmp_path, limit_train_batches=0.1, max_epochs=1).fit(Regression(), loader())
    with pytest.raises(ValueError, match="val_check_interval"):
        trainer(tmp_path, val_check_interval=5, max_epochs=1).fit(Regression(), loader(), loader())


def step_lr(module):
    return torch.optim.lr_scheduler.StepLR(torch.optim.SGD(module.parameters(), lr=0.1), 1)


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        (lambda m: "adam", L.MisconfigurationException, "Unknown configuration for model optimizers"),
        (lambda m: ["adam"], L.MisconfigurationException, "returned str where an optimizer"),
        (lambda m: {"lr_scheduler": None}, L.MisconfigurationException, 'must have the key "optimizer"'),
        (
            lambda m: ([torch.optim.SGD(m.parameters(), lr=0.1)], [3]),
            TypeError,
            "lr scheduler `int` is invalid. It should have `state_dict`",
        ),
        (
            lambda m: ([torch.optim.SGD(m.parameters(), lr=0.1)], [m.layer]),
            L.MisconfigurationException,
            "`Sequential` doesn't follow PyTorch's LRScheduler API",
        ),
        (
            lambda m: ([torch.optim.SGD(m.parameters(), lr=0.1)], [step_lr(m)]),
            L.MisconfigurationException,
            "attached with an optimizer that wasn't returned",
        ),
    ],
)
def test_what_configure_optimizers_may_not_return(tmp_path, returned, error, words):
    model = Regression()
    model.configure_optimizers = lambda: returned(model)
    with pytest.raises(error, match=words):
        trainer(tmp_path, max_epochs=1).fit(model, loader())


def test_unknown_keys_beside_the_optimizer_are_warned_of(tmp_path):
    model = Regression()
    model.configure_optimizers = lambda: {"optimizer": torch.optim.SGD(model.parameters(), lr=0.1), "rate": 1}
    with pytest.warns(RuntimeWarning, match="unsupported keys in the optimizer configuration: {'rate'}"):
        trainer(tmp_path, max_epochs=1).fit(model, loader())


def test_no_optimizers_are_no_error(tmp_path):
    model, runner = Regression(), trainer(tmp_path, max_epochs=1)
    model.configure_optimizers = lambda: []
    runner.fit(model, loader())
    assert runner.global_step == 0 and len(model.losses) == 4


def test_files_and_limits_that_do_not_go_together(tmp_path):
    runner = trainer(tmp_path, max_epochs=2)
    runner.fit(Regression(), loader())
    runner.save_checkpoint(tmp_path / "two.ckpt")
    with pytest.raises(L.MisconfigurationException, match=r"current_epoch=2, but you have set Trainer\(max_epochs=1"):
        trainer(tmp_path, max_epochs=1).fit(Regression(), loader(), ckpt_path=tmp_path / "two.ckpt")
    finished, model = trainer(tmp_path, max_epochs=2), Regression()
    finished.fit(model, loader(), ckpt_path=tmp_path / "two.ckpt")
    assert (finished.global_step, finished.current_epoch, model.losses) == (8, 2, [])
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    with pytest.raises(KeyError, match="no checkpoint of a Trainer"):
        trainer(tmp_path, max_epochs=1).fit(Regression(), loader(), ckpt_path=tmp_path / "weights.pt")


def test_a_limit_of_gradients_below_zero_clips_nothing(tmp_path):
    clipped, plain = Regression(), Regression()
    trainer(tmp_path, max_epochs=1, gradient_clip_val=-1.0).fit(clipped, loader())
    trainer(tmp_path, max_epochs=1).fit(plain, loader())
    assert torch.equal(clipped.layer[1].weight, plain.layer[1].weight)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"gradient_clip_val": "x"}, TypeError, "`gradient_clip_val` should be an int or a float. Got x."),
        ({"logger": "csv"}, TypeError, "expected a Logger.* got str"),
        ({"devices": 0}, L.MisconfigurationException, "`devices=0` is no number of processes"),
        ({"devices": "two"}, L.MisconfigurationException, "`devices='two'` is no number of processes"),
    ],
)
def test_arguments_of_other_kinds_are_refused(tmp_path, options, error, words):
    with pytest.raises(error, match=words):
        trainer(tmp_path, **options)


def test_one_name_is_logged_in_one_way(tmp_path):
    class Logs(Regression):
        again = {}

        def validation_step(self, batch, batch_idx):
            self.log("x", 1.0)
            self.log("x", 3.0, **self.again)

    for Logs.again in ({}, {"on_epoch": True}, {"reduce_fx": torch.mean}):
        assert trainer(tmp_path).validate(Logs(), loader(), verbose=False) == [{"x": 2.0}]
    for Logs.again in ({"on_step": True}, {"reduce_fx": "sum"}, {"prog_bar": True}):
        with pytest.raises(L.MisconfigurationException, match="twice in `validation_step` with different"):
            trainer(tmp_path).validate(Logs(), loader(), verbose=False)


def test_missing_parts_say_so(tmp_path):
    with pytest.raises(L.MisconfigurationException, match="train_dataloader"):
        trainer(tmp_path, max_epochs=1).fit(Regression())
    with pytest.raises(L.MisconfigurationException, match="`training_step` must be implemented"):

        class Without(L.LightningModule):
            def configure_optimizers(self):
                return None

        trainer(tmp_path, max_epochs=1).fit(Without(), loader())
    with pytest.raises(RuntimeError, match="not attached to a `Trainer`"):
        Regression().trainer
    with pytest.raises(TypeError, match="requires a `LightningModule`"):
        trainer(tmp_path).test()


# ---- logging -------------------------------------------------------------------------------------


def test_the_epoch_s_mean_is_weighted_by_the_batch_size(tmp_path):
    class Logs(Regression):
        def validation_step(self, batch, batch_idx):
            self.log("mean", float(batch_idx))
            self.log("own", float(batch_idx), batch_size=1)
            for how in ("sum", "min", "max"):
                self.log(how, float(batch_idx), reduce_fx=how)

    found = trainer(tmp_path).validate(Logs(), DataLoader(dataset(7), 3), verbose=False)  # batches of 3, 3, 1
    assert found == [
        {"mean": pytest.approx((3 * 0 + 3 * 1 + 2) / 7), "own": 1.0, "sum": 3.0, "min": 0.0, "max": 2.0}
    ]


def test_names_of_steps_and_epochs(tmp_path):
    class Logs(Regression):
        def training_step(self, batch, batch_idx):
            self.log("a", 1.0)
            self.log("b", float(batch_idx), on_step=False, on_epoch=True)
            self.log("c", float(batch_idx), on_step=True, on_epoch=True, prog_bar=True)
            return super().training_step(batch, batch_idx)

        def on_train_epoch_end(self):
            self.log("d", 4.0)

    runner = trainer(tmp_path, max_epochs=1)
    runner.fit(Logs(), loader())
    found = {
        name: value.item() for name, value in runner.callback_metrics.items() if not name.startswith("loss")
    }
    assert found == {"a": 1.0, "b": 1.5, "c": 1.5, "c_step": 3.0, "c_epoch": 1.5, "d": 4.0}
    assert runner.progress_bar_metrics == {"c_step": 3.0, "c_epoch": 1.5}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_what_is_logged_does_not_change_with_the_tensor(tmp_path, dtype, shape):
    class Counts(Regression):
        def on_train_start(self):
            self.count = torch.zeros(shape, dtype=dtype)

        def training_step(self, batch, batch_idx):
            self.count += 1
            self.log("count", self.count)
            self.log("sum", self.count, on_step=False, on_epoch=True, reduce_fx="sum")
            return super().training_step(batch, batch_idx)

        def on_train_epoch_end(self):
            self.count += 100

    runner = trainer(tmp_path, max_epochs=1)
    runner.fit(Counts(), loader(8, 2))
    assert (runner.callback_metrics["count"].item(), runner.callback_metrics["sum"].item()) == (4, 1 + 2 + 3 + 4)


def test_who_observes_from_within_a_hook_hears_whole_hooks(tmp_path):
    heard = []

    class Observed(Regression):
        def on_train_batch_start(self, batch, batch_idx):
            if batch_idx == 1:
                observer.subscribe(note, "trainer")

        def on_train_batch_end(self, outputs, batch, batch_idx):
            if batch_idx == 1:
                observer.unsubscribe(note)

    def note(topic, event):
        heard.append((event["phase"], event["hook"]))

    trainer(tmp_path, max_epochs=1).fit(Observed(), loader(8, 2))
    assert heard[:2] == [("start", "optimizer_step"), ("start", "training_step")]
    assert heard[-1] == ("start", "on_train_batch_end")
    assert [hook for phase, hook in heard if phase == "end"] == [
        "training_step", "on_before_zero_grad", "optimizer_zero_grad", "on_before_backward", "backward",
        "on_after_backward", "on_before_optimizer_step", "configure_gradient_clipping",
        "optimizer_step",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "hook", ["on_fit_start", "on_train_end", "on_validation_end", "configure_optimizers", "setup"]
)
def test_hooks_in_which_nothing_can_be_logged(tmp_path, hook):
    class Logs(Regression):
        pass

    def log(self, *args):
        self.log("x", 1.0)

    setattr(Logs, hook, log)
    with pytest.raises(L.MisconfigurationException, match=f"inside `{hook}`"):
        trainer(tmp_path, max_epochs=1).fit(Logs(), loader(), loader())


def test_values_that_cannot_be_logged(tmp_path):
    class Logs(Regression):
        value = None

        def validation_step(self, batch, batch_idx):
            self.log("x", self.value)

    for Logs.value, words in ((torch.ones(2), "single element"), ("word", "cannot be logged")):
        with pytest.raises(ValueError, match=words):
            trainer(tmp_path).validate(Logs(), loader())
    with pytest.raises(RuntimeError, match="reference is not registered"):
        Regression().log("x", 1.0)


def rows(folder):
    with open(folder / "metrics.csv", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items() if value} for row in csv.DictReader(file)]


def test_the_csv_logger_has_a_row_for_each_step_and_epoch(tmp_path):
    runner = trainer(tmp_path, max_epochs=2, logger=CSVLogger(tmp_path, "runs"), log_every_n_steps=2)
    model = Regression()
    runner.fit(model, loader(), loader(2))
    found = rows(tmp_path / "runs" / "version_0")
    steps = [(row["step"], row["loss_step"]) for row in found if "loss_step" in row]
    assert steps == [(k, pytest.approx(model.losses[k])) for k in (1, 3, 5, 7)]
    assert [(row["epoch"], row["step"]) for row in found if "val_loss" in row] == [(0, 3), (1, 7)]
    epochs = [row["loss_epoch"] for row in found if "loss_epoch" in row]
    assert epochs == [pytest.approx(sum(model.losses[k : k + 4]) / 4) for k in (0, 4)]
    assert CSVLogger(tmp_path, "runs").version == 1


def test_the_axis_of_the_loggers_counts_groups_of_batches(tmp_path):
    options = {"accumulate_grad_batches": 2, "log_every_n_steps": 1}
    trainer(tmp_path, max_epochs=1, logger=CSVLogger(tmp_path), **options).fit(Regression(), loader())
    found = rows(tmp_path / "lightning_logs" / "version_0")
    assert [row["step"] for row in found if "loss_step" in row] == [0, 0, 1, 1]


def test_hyperparameters_are_saved_logged_and_given_back(tmp_path):
    class Base(Regression):
        def __init__(self, width, *, rate=0.1, **more):
            super().__init__()
            self.save_hyperparameters(ignore="more")

    class Sub(Base):
        def __init__(self, width=3, name="x", skipped=None):
            super().__init__(width, rate=0.5)

    model = Sub(name="y")
    assert (
        dict(model.hparams) == {"width": 3, "rate": 0.5, "name": "y", "skipped": None}
        and model.hparams.rate == 0.5
    )
    runner = trainer(tmp_path, max_epochs=1, logger=CSVLogger(tmp_path))
    runner.fit(model, loader())
    text = (tmp_path / "lightning_logs" / "version_0" / "hparams.yaml").read_text()
    assert text == "width: 3\nrate: 0.5\nname: 'y'\nskipped: null\n"
    runner.save_checkpoint(tmp_path / "x.ckpt")
    again = Sub.load_from_checkpoint(tmp_path / "x.ckpt", width=7)
    assert again.hparams.width == 7 and again.hparams.name == "y"
    assert torch.equal(again.layer[1].weight, model.layer[1].weight)


def test_tensorboard_reads_what_was_written(tmp_path):
    pytest.importorskip("tensorboard")
    logger = TensorBoardLogger(tmp_path)
    trainer(tmp_path, max_epochs=2, logger=logger).fit(Regression(), loader(), loader(2))
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(logger.log_dir)
    events.Reload()
    assert [event.step for event in events.Scalars("val_loss")] == [3, 7]


def test_without_tensorboard_the_word_is_clear(tmp_path, monkeypatch):
    monkeypatch.setattr("teachtorch.lightning.loggers.tensorboard.find_spec", lambda name: None)
    monkeypatch.setattr("teachtorch.lightning.loggers.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install tensorboard"):
        TensorBoardLogger(tmp_path)
    assert isinstance(trainer(tmp_path, logger=True).logger, CSVLogger)


def test_several_loaders_have_names_of_their_own(tmp_path):
    class Two(Regression):
        def validation_step(self, batch, batch_idx, dataloader_idx):
            self.log("n", float(dataloader_idx))
            self.log("same", 1.0, add_dataloader_idx=False)

    found = trainer(tmp_path).validate(Two(), [loader(), loader(2)], verbose=False)
    assert found == [{"n/dataloader_idx_0": 0.0, "same": 1.0}, {"n/dataloader_idx_1": 1.0, "same": 1.0}]


# ---- evaluation and data -------------------------------------------------------------------------


def test_validate_test_and_predict(tmp_path, capsys):
    model, data = Regression(), loader()
    runner = trainer(tmp_path, max_epochs=1)
    assert runner.validate(model, data, verbose=False)[0].keys() == {"val_loss"}
    x, y = data.dataset.tensors
    expected = torch.nn.functional.mse_loss(model(x), y).item()
    assert runner.test(model, data)[0]["test_loss"] == pytest.approx(expected, rel=1e-5)
    assert "test_loss" in capsys.readouterr().out
    predicted = runner.predict(model, data)
    assert torch.equal(torch.cat(predicted), model(x).detach()) and not predicted[0].requires_grad


class Data(L.LightningDataModule):
    def __init__(self, size=8):
        super().__init__()
        self.save_hyperparameters()
        self.called = []

    def prepare_data(self):
        self.called.append("prepare_data")

    def setup(self, stage):
        self.called.append(f"setup {stage}")

    def train_dataloader(self):
        return loader(self.hparams.size)

    def val_dataloader(self):
        return loader(2)

    def on_after_batch_transfer(self, batch, dataloader_idx):
        self.called.append("after transfer")
        return batch

    def teardown(self, stage):
        self.called.append(f"teardown {stage}")


def test_a_data_module(tmp_path):
    data, model = Data(4), Regression()
    runner = trainer(tmp_path, max_epochs=1)
    runner.fit(model, data)
    assert data.called == ["prepare_data", "setup fit", *["after transfer"] * 4, "teardown fit"]
    runner.save_checkpoint(tmp_path / "x.ckpt")
    assert Data.load_from_checkpoint(tmp_path / "x.ckpt").hparams.size == 4


def test_a_data_module_of_datasets(tmp_path):
    data = L.LightningDataModule.from_datasets(dataset(6), dataset(2), batch_size=3)
    model = Regression()
    trainer(tmp_path, max_epochs=1).fit(model, datamodule=data)
    assert len(model.losses) == 2
    assert type(data.train_dataloader().sampler).__name__ == "RandomSampler"


def test_streams_without_a_length(tmp_path):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(dataset(7))

    model = Regression()
    runner = trainer(tmp_path, max_epochs=2, accumulate_grad_batches=3)
    runner.fit(model, DataLoader(Stream(), 2), loader(2))
    assert len(model.losses) == 8 and runner.global_step == 4
    assert runner.num_training_batches == math.inf
    with pytest.raises(L.MisconfigurationException, match="IterableDataset"):
        trainer(tmp_path, max_epochs=1, limit_train_batches=0.5).fit(Regression(), DataLoader(Stream(), 2))


def test_training_on_the_simulated_device_gives_the_same_losses(tmp_path):
    here, there = Regression(), Regression()
    trainer(tmp_path, max_epochs=1).fit(here, loader(), loader(2))
    trainer(tmp_path, max_epochs=1, accelerator="sim").fit(there, loader(), loader(2))
    assert there.layer[1].weight.device.type == "sim" and there.losses == here.losses


# ---- around it -----------------------------------------------------------------------------------


def test_freeze_and_unfreeze():
    model = Regression(dropout=0.5)
    model.freeze()
    assert not any(p.requires_grad for p in model.parameters()) and not model.layer[0].training
    model.unfreeze()
    assert all(p.requires_grad for p in model.parameters()) and model.layer[0].training


def test_seed_everything(capsys, monkeypatch):
    import random

    import numpy

    monkeypatch.setenv("PL_GLOBAL_SEED", "4")
    L.seed_everything(verbose=False)
    first = (random.random(), numpy.random.rand(), torch.rand(1).item())
    assert L.seed_everything(4) == 4 and capsys.readouterr().out == "Seed set to 4\n"
    assert (random.random(), numpy.random.rand(), torch.rand(1).item()) == first
    with pytest.raises(ValueError, match="not in bounds"):
        L.seed_everything(-1)


def test_deterministic_switches_the_algorithms(tmp_path):
    try:
        trainer(tmp_path, deterministic="warn")
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled()
    finally:
        torch.use_deterministic_algorithms(False)


def test_detect_anomaly_finds_the_nan(tmp_path):
    class Bad(Regression):
        def training_step(self, batch, batch_idx):
            return (self(batch[0]).sum() * 0).sqrt() * math.nan

    with pytest.raises(RuntimeError, match="nan"), pytest.warns(UserWarning, match="Anomaly|anomaly"):
        trainer(tmp_path, max_epochs=1, detect_anomaly=True).fit(Bad(), loader())


def test_profilers_print_their_table_and_leave_the_observer(tmp_path, capsys):
    for name, word in (("simple", "[module]training_step"), ("pytorch", "aten::")):
        runner = trainer(tmp_path, max_epochs=1, profiler=name)
        runner.fit(Regression(), loader())
        assert word in capsys.readouterr().out
        assert not observer.active


def test_the_observer_is_told_of_every_hook_in_order(tmp_path):
    told = []
    with observer.watching(lambda topic, event: told.append(event), "trainer"):
        trainer(tmp_path, max_epochs=1, limit_train_batches=1).fit(Regression(), loader())
    open_ones = []
    for event in told:
        if event["phase"] == "start":
            open_ones.append(event["hook"])
        else:
            assert open_ones.pop() == event["hook"]
    started = [event["hook"] for event in told if event["phase"] == "start"]
    assert open_ones == [] and started.index("optimizer_step") < started.index("training_step")
    assert {event["epoch"] for event in told if event["hook"] == "training_step"} == {0}


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [ProgressBar, TQDMProgressBar])
def test_progress_bars_count_batches_and_show_metrics(tmp_path, kind):
    pytest.importorskip("tqdm")

    class Shows(Regression):
        def validation_step(self, batch, batch_idx):
            self.log("val", 0.25, prog_bar=True)

    stream = Terminal()
    runner = trainer(tmp_path, max_epochs=2, callbacks=[kind(stream=stream)], enable_progress_bar=None)
    runner.fit(Shows(), loader(), loader(2))
    assert "Epoch 1" in stream.text and "4/4" in stream.text and "val=0.25" in stream.text


def test_a_summary_counts_parameters(tmp_path, capsys):
    model = Regression()
    model.layer[1].bias.requires_grad_(False)
    trainer(tmp_path, max_epochs=1, enable_model_summary=True).fit(model, loader())
    first, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["layer", "Sequential", "5"] and last == "4 trainable of 5 parameters"


@pytest.mark.parametrize("broken", [0, 2])
def test_errors_leave_the_trainer_usable(tmp_path, broken):
    """The epoch that was broken off begins anew."""

    class Breaks(Regression):
        def training_step(self, batch, batch_idx):
            if batch_idx == broken:
                raise ValueError("once")
            return super().training_step(batch, batch_idx)

    runner = trainer(tmp_path, max_epochs=1)
    with pytest.raises(ValueError, match="once"):
        runner.fit(Breaks(), loader())
    model = Regression()
    runner.fit(model, loader())
    assert len(model.losses) == 4
