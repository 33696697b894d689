"""ModelCheckpoint, EarlyStopping, LearningRateMonitor, and callbacks of one's own."""

import math
from datetime import timedelta
from functools import partial

import pytest

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch.lightning.callbacks import (
    EarlyStopping,
    GradientAccumulationScheduler,
    LambdaCallback,
    LearningRateMonitor,
    ModelCheckpoint,
    Timer,
)
from teachtorch.lightning.loggers import CSVLogger

from .models import Regression, loader, trainer


class Scripted(Regression):
    """Logs the given scores, one in each validation."""

    def __init__(self, scores):
        super().__init__()
        self.scores, self.checks = scores, 0

    def validation_step(self, batch, batch_idx):
        pass

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            self.log("score", self.scores[self.checks])
            self.checks += 1


def fit(tmp_path, scores, callbacks, **options):
    runner = trainer(tmp_path, callbacks=callbacks, **{"max_epochs": len(scores), **options})
    model = Scripted(scores)
    runner.fit(model, loader(), loader(2))
    return model, runner


# ---- EarlyStopping -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "mode", "patience", "checks"),
    [
        ([5, 4, 4, 4, 4, 4], "min", 3, 5),  # equal is not better
        ([1, 2, 1, 1, 3, 1, 1, 9], "max", 2, 4),
        ([5, 6, 4, 6, 3, 6], "min", 2, 6),  # every improvement starts the count again
        ([1, 1, 1], "min", 1, 2),
    ],
)
def test_patience(tmp_path, scores, mode, patience, checks):
    model, runner = fit(tmp_path, scores, [EarlyStopping("score", patience=patience, mode=mode)])
    assert (model.checks, runner.current_epoch) == (checks, checks)


def test_patience_counts_checks_not_epochs(tmp_path):
    model, runner = fit(
        tmp_path,
        [2.0, 3, 3, 3, 3, 3, 3, 3],
        [EarlyStopping("score", patience=2)],
        val_check_interval=0.5,
        max_epochs=4,
    )
    assert model.checks == 3 and runner.current_epoch == 2
    assert len(model.losses) == 6  # stopped in the middle of the second epoch


def test_patience_counts_checks_if_validation_is_rare(tmp_path):
    stopping = EarlyStopping("score", patience=2)
    model, runner = fit(tmp_path, [2.0, 3, 3, 3, 3], [stopping], check_val_every_n_epoch=2, max_epochs=10)
    assert model.checks == 3 and runner.current_epoch == 6 and stopping.stopped_epoch == 5


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_stops_at_once(tmp_path, bad):
    model, _ = fit(tmp_path, [3.0, bad, 1.0, 1.0], [EarlyStopping("score", patience=3)])
    assert model.checks == 2
    model, _ = fit(tmp_path, [3.0, bad, 1.0, 1.0], [EarlyStopping("score", check_finite=False)])
    assert model.checks == 4


def test_thresholds_and_min_delta(tmp_path):
    assert fit(tmp_path, [3.0, 0.5, 9, 9], [EarlyStopping("score", stopping_threshold=1.0)])[0].checks == 2
    assert (
        fit(tmp_path, [3.0, 20.0, 9, 9], [EarlyStopping("score", divergence_threshold=10.0)])[0].checks == 2
    )
    callback = EarlyStopping("score", min_delta=0.5, patience=2)
    assert fit(tmp_path, [3.0, 2.9, 2.8, 2.0, 1.0], [callback])[0].checks == 3


def test_min_epochs_goes_before_patience(tmp_path):
    assert (
        fit(tmp_path, [1, 2, 2, 2, 2, 2], [EarlyStopping("score", patience=1)], min_epochs=4)[0].checks == 4
    )


def test_a_missing_metric_is_an_error_unless_strict_is_off(tmp_path):
    with pytest.raises(RuntimeError, match="`gone` which is not available"):
        fit(tmp_path, [1, 2], [EarlyStopping("gone")])
    assert fit(tmp_path, [1, 2], [EarlyStopping("gone", strict=False)])[0].checks == 2


# ---- ModelCheckpoint -----------------------------------------------------------------------------


def names(folder):
    return sorted(path.name for path in folder.glob("*.ckpt"))


def test_the_best_are_kept_whatever_the_order(tmp_path):
    for mode, kept in (("min", ["epoch=2.ckpt", "epoch=4.ckpt"]), ("max", ["epoch=0.ckpt", "epoch=3.ckpt"])):
        folder = tmp_path / mode
        keeper = ModelCheckpoint(folder, "{epoch}", "score", save_top_k=2, mode=mode)
        fit(tmp_path, [5.0, 3, 1, 4, 2], [keeper], enable_checkpointing=None)
        assert names(folder) == kept
        assert keeper.best_model_path.endswith({"min": "epoch=2.ckpt", "max": "epoch=0.ckpt"}[mode])
        assert keeper.best_model_score.item() == {"min": 1, "max": 5}[mode]
        assert keeper.kth_value.item() == {"min": 2, "max": 4}[mode]


def test_nan_is_never_among_the_best(tmp_path):
    keeper = ModelCheckpoint(tmp_path, "{epoch}", "score", save_top_k=1)
    fit(tmp_path, [math.nan, 3.0, math.nan, 4.0], [keeper], enable_checkpointing=None)
    assert names(tmp_path) == ["epoch=1.ckpt"] and keeper.best_model_score.item() == 3.0


def test_without_monitor_the_newest_is_kept(tmp_path):
    fit(tmp_path, [1, 2, 3], [ModelCheckpoint(tmp_path)], enable_checkpointing=None)
    assert names(tmp_path) == ["epoch=2-step=12.ckpt"]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"save_top_k": -1}, ["0-4", "1-8", "2-12"]),
        ({"save_top_k": 0, "save_last": True}, ["last"]),
        ({"save_top_k": -1, "every_n_epochs": 2}, ["1-8"]),
        ({"save_top_k": -1, "every_n_train_steps": 5}, ["1-5", "2-10"]),
        (
            {"save_top_k": -1, "train_time_interval": timedelta(seconds=0)},
            [f"{(s - 1) // 4}-{s}" for s in range(1, 13)],
        ),
    ],
)
def test_when_checkpoints_are_written(tmp_path, options, kept):
    keeper = ModelCheckpoint(tmp_path, "{epoch}-{step}", auto_insert_metric_name=False, **options)
    fit(tmp_path, [1, 2, 3], [keeper], enable_checkpointing=None)
    assert sorted(name.removesuffix(".ckpt") for name in names(tmp_path)) == sorted(kept)


def test_validation_inside_the_epoch_is_when_it_saves(tmp_path):
    keeper = ModelCheckpoint(tmp_path, "{step}-{score:.1f}", "score", save_top_k=-1)
    fit(tmp_path, [1.0, 2.25], [keeper], enable_checkpointing=None, val_check_interval=0.5, max_epochs=1)
    assert names(tmp_path) == ["step=2-score=1.0.ckpt", "step=4-score=2.2.ckpt"]


def test_a_file_of_another_run_is_not_replaced(tmp_path):
    for _ in range(2):
        fit(tmp_path, [1.0], [ModelCheckpoint(tmp_path, "same")], enable_checkpointing=None)
    assert names(tmp_path) == ["same-v1.ckpt", "same.ckpt"]


def test_best_and_last_are_paths_that_can_be_asked_for(tmp_path):
    keeper = ModelCheckpoint(tmp_path, "{epoch}", "score", save_last=True)
    model, runner = fit(tmp_path, [1.0, 2.0], [keeper], enable_checkpointing=None)
    trained = model.layer[1].weight.tolist()
    runner.predict(model, loader(), ckpt_path="best")
    assert model.layer[1].weight.tolist() != trained
    runner.predict(model, loader(), ckpt_path="last")
    assert model.layer[1].weight.tolist() == trained


def test_impossible_arguments(tmp_path):
    for options, words in (
        ({"save_top_k": 2}, "No quantity for top_k"),
        ({"mode": "best"}, "can be min, max"),
        ({"save_top_k": -2}, "Must be >= -1"),
        ({"every_n_epochs": 1, "every_n_train_steps": 1}, "mutually exclusive"),
    ):
        with pytest.raises(L.MisconfigurationException, match=words):
            ModelCheckpoint(**options)
    with pytest.raises(L.MisconfigurationException, match="could not find the monitored key"):
        fit(tmp_path, [1.0], [ModelCheckpoint(tmp_path, monitor="gone")], enable_checkpointing=None)
    with pytest.raises(L.MisconfigurationException, match="found `ModelCheckpoint`"):
        trainer(tmp_path, callbacks=[ModelCheckpoint()], enable_checkpointing=False)


# ---- the others ----------------------------------------------------------------------------------


def test_learning_rates_are_logged_by_step_or_epoch(tmp_path):
    def each_step(optimizer):
        return {"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5), "interval": "step"}

    for interval, expected in ((None, [1.0, 0.5, 0.25, 0.125]), ("epoch", [1.0, 0.25])):
        monitor = LearningRateMonitor(interval)
        model = Regression(optimizer=partial(torch.optim.SGD, lr=1.0), scheduler=each_step)
        logger = CSVLogger(tmp_path, version=str(interval))
        trainer(tmp_path, max_epochs=2, callbacks=[monitor], logger=logger, log_every_n_steps=1).fit(
            model, loader(4)
        )
        assert monitor.lrs == {"lr-SGD": expected}
    with pytest.raises(L.MisconfigurationException, match="no logger"):
        trainer(tmp_path, max_epochs=1, callbacks=[LearningRateMonitor()]).fit(Regression(), loader())


def test_groups_and_second_optimizers_have_names_of_their_own(tmp_path):
    class Two(Regression):
        automatic_optimization = False

        def __init__(self):
            super().__init__()
            self.automatic_optimization = False

        def training_step(self, batch, batch_idx):
            pass

        def configure_optimizers(self):
            weight, bias = self.parameters()
            groups = [{"params": [weight]}, {"params": [bias], "lr": 0.2}]
            return torch.optim.SGD(groups, lr=0.1, momentum=0.9), torch.optim.SGD([weight], lr=0.3)

    monitor = LearningRateMonitor("epoch", log_momentum=True)
    trainer(tmp_path, max_epochs=1, callbacks=[monitor], logger=CSVLogger(tmp_path)).fit(Two(), loader())
    assert monitor.lrs == {
        "lr-SGD/pg1": [0.1],
        "lr-SGD/pg2": [0.2],
        "lr-SGD-1": [0.3],
        "lr-SGD/pg1-momentum": [0.9],
        "lr-SGD/pg2-momentum": [0.9],
        "lr-SGD-1-momentum": [0],
    }


def test_accumulation_by_epoch(tmp_path):
    runner = trainer(tmp_path, max_epochs=3, callbacks=[GradientAccumulationScheduler({0: 4, 2: 2})])
    runner.fit(Regression(), loader(8))
    assert runner.global_step == 1 + 1 + 2


def test_a_timer_stops(tmp_path):
    runner = trainer(tmp_path, max_epochs=3, callbacks=[Timer(0)])
    runner.fit(Regression(), loader())
    assert runner.global_step == 1


def test_callbacks_of_the_module_replace_those_of_their_class(tmp_path):
    class Own(Regression):
        def configure_callbacks(self):
            return EarlyStopping("loss", patience=7)

    runner = trainer(tmp_path, max_epochs=1, callbacks=[EarlyStopping("val_loss", patience=1)])
    runner.fit(Own(), loader())
    assert runner.early_stopping_callback.patience == 7 and len(runner.callbacks) == 1


def test_state_of_callbacks_comes_back(tmp_path):
    class Counts(L.Callback):
        count = 0

        def on_train_batch_end(self, *args):
            self.count += 1

        def state_dict(self):
            return {"count": self.count}

        def load_state_dict(self, state):
            self.count = state["count"]

    runner = trainer(tmp_path, max_epochs=1, callbacks=[Counts()])
    runner.fit(Regression(), loader())
    runner.save_checkpoint(tmp_path / "x.ckpt")
    again = Counts()
    trainer(tmp_path, max_epochs=2, callbacks=[again]).fit(
        Regression(), loader(), ckpt_path=tmp_path / "x.ckpt"
    )
    assert again.count == 8
    with pytest.raises(RuntimeError, match="more than one stateful callback"):
        trainer(tmp_path, callbacks=[Counts(), Counts()])


def test_a_lambda_callback_refuses_hooks_that_are_not_there():
    with pytest.raises(TypeError, match="no hook 'on_trian_start'"):
        LambdaCallback(on_trian_start=print)


def test_a_file_that_is_kept_is_not_overwritten(tmp_path):
    keeper = L.callbacks.ModelCheckpoint(tmp_path, "same", monitor="val_loss", save_top_k=-1)
    trainer(tmp_path, max_epochs=3, callbacks=[keeper], enable_checkpointing=True).fit(
        Regression(), loader(), loader()
    )
    names = sorted(path.name for path in tmp_path.glob("*.ckpt"))
    assert names == ["same-v1.ckpt", "same-v2.ckpt", "same.ckpt"]
    assert sorted(keeper.best_k_models) == sorted(str(tmp_path / name) for name in names)
