"""viz.trainer: the hooks of a run in their order, folded, and whose they are."""

from functools import partial
from xml.etree import ElementTree

import pytest

import teachtorch as torch
import teachtorch.lightning as L
import viz
from teachtorch.core import observer
from tests.lightning.models import Regression, loader, trainer


class Model(Regression):
    def on_train_epoch_start(self):
        pass


def scheduled():
    return Model(scheduler=partial(torch.optim.lr_scheduler.StepLR, step_size=1))


@pytest.fixture
def picture(tmp_path):
    runner = trainer(tmp_path, max_epochs=3, callbacks=[L.callbacks.EarlyStopping("val_loss")])
    return viz.trainer(runner, scheduled(), loader(8), loader(4))


EPOCH = """\
▸ epoch 0
  ● on_train_epoch_start
  ▸ batch 0
    ○ on_before_batch_transfer
    ○ transfer_batch_to_device
    ○ on_after_batch_transfer
    · on_train_batch_start
    ■ optimizer_step
      ■ training_step
      · on_before_zero_grad
      ○ optimizer_zero_grad
      · on_before_backward
      ■ backward
      · on_after_backward
      · on_before_optimizer_step
      ○ configure_gradient_clipping
    · on_train_batch_end
  … batches 1 to 2: the same
  ▸ batch 3
"""


def test_an_epoch_in_words(picture):
    assert EPOCH in picture.text
    assert (
        "    ○ lr_scheduler_step\n" in picture.text and "… epochs 1 to 2: the same\n▸ end\n" in picture.text
    )
    assert "◆ on_train_epoch_end   EarlyStopping\n" in picture.text
    assert max(map(len, picture.text.splitlines())) <= 110


def test_a_batch_that_accumulates_has_no_optimizer_step(tmp_path):
    runner = trainer(tmp_path, max_epochs=1, accumulate_grad_batches=2)
    labels = [node["label"] for node in viz.trainer(runner, Regression(), loader(8)).trace.nodes]
    parts = "\n".join(labels).split("batch ")
    assert "optimizer_step" not in parts[1].split() and "optimizer_step" in parts[2].split()


def test_callbacks_come_before_the_module(tmp_path):
    class Both(Regression):
        def on_train_start(self):
            pass

    first, second = (L.callbacks.LambdaCallback(on_train_start=lambda *args: None) for _ in range(2))
    runner = trainer(tmp_path, max_epochs=1, callbacks=[first, L.callbacks.Timer(99), second])
    nodes = viz.trainer(runner, Both(), loader(4)).trace.nodes
    owners = [node["who"] for node in nodes if node["label"] == "on_train_start"]
    assert owners == [["LambdaCallback", "Timer"], ["LambdaCallback", "module"]]


@pytest.mark.parametrize(
    ("method", "title"), [("validate", "validation"), ("test", "testing"), ("predict", "predicting")]
)
def test_other_runs(tmp_path, method, title):
    picture = viz.trainer(trainer(tmp_path), Regression(), loader(4), method=method)
    assert f"▸ {title}\n" in picture.text and "batch 1: the same" in picture.text


def test_every_format_is_written_and_read_back(picture, tmp_path):
    for ending in (".svg", ".html", ".txt", ".dot", ".json"):
        path = picture.save(tmp_path / f"x{ending}")
        assert path.stat().st_size > 100
        if ending in (".html", ".json"):
            assert viz.load(path).trace == picture.trace
    assert (tmp_path / "x.html").stat().st_size < 150_000


def test_every_row_is_drawn_and_every_step_speaks_of_one(picture):
    drawn = {part.get("data-id") for part in ElementTree.fromstring(picture.svg).iter()}
    assert {node["id"] for node in picture.trace.nodes} <= drawn
    assert all(set(step["ids"]) <= drawn for step in picture.trace.steps)


def test_a_long_run_says_how_much_of_it_is_shown(tmp_path):
    picture = viz.trainer(trainer(tmp_path, max_epochs=1), Regression(), loader(8), max_rows=5)
    assert len(picture.trace.nodes) == 5 and "Showing 5 of" in picture.text


def test_watching_a_run_of_ones_own_and_letting_go(tmp_path):
    with viz.trainer.watch() as seen, pytest.raises(ZeroDivisionError):

        class Breaks(Regression):
            def training_step(self, batch, batch_idx):
                return 1 / 0

        trainer(tmp_path, max_epochs=1).fit(Breaks(), loader(4))
    assert "training_step" in seen.picture.text and not observer.active
    with pytest.raises(TypeError, match="takes a Trainer"):
        viz.trainer(Regression())
