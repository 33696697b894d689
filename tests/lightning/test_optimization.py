"""One batch and one step: accumulation, clipping, several optimizers, forms of configure_optimizers, schedulers."""

from functools import partial

import pytest

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch import nn

from .models import Regression, dataset, loader, trainer

SGD = partial(torch.optim.SGD, lr=0.05)


def plain_loop(model, optimizer, data, epochs, accumulate=1, clip=None):
    """What the trainer must compute, written out."""
    losses = []
    for _ in range(epochs):
        for index, (x, y) in enumerate(data):
            loss = nn.functional.mse_loss(model(x), y)
            losses.append(loss.item())
            if index % accumulate == 0:
                optimizer.zero_grad()
            (loss / accumulate).backward()
            if (index + 1) % accumulate == 0 or index + 1 == len(data):
                if clip:
                    clip(model.parameters())
                optimizer.step()
    return losses


@pytest.mark.parametrize("accumulate", [1, 2, 3, 9])
def test_accumulation_steps_with_the_last_group_even_if_it_is_not_full(tmp_path, accumulate):
    model, twin = Regression(), Regression()
    runner = trainer(tmp_path, max_epochs=2, accumulate_grad_batches=accumulate)
    runner.fit(model, loader(16))
    assert model.losses == plain_loop(twin, SGD(twin.parameters()), loader(16), 2, accumulate)
    assert runner.global_step == 2 * -(-8 // accumulate)


@pytest.mark.parametrize("algorithm", ["norm", "value"])
def test_clipping_comes_between_backward_and_the_step(tmp_path, algorithm):
    functions = {"norm": nn.utils.clip_grad_norm_, "value": nn.utils.clip_grad_value_}
    model, twin = Regression(), Regression()
    trainer(tmp_path, max_epochs=2, gradient_clip_val=0.1, gradient_clip_algorithm=algorithm).fit(
        model, loader()
    )
    expected = plain_loop(
        twin, SGD(twin.parameters()), loader(), 2, clip=lambda p: functions[algorithm](p, 0.1)
    )
    assert model.losses == expected


def test_shuffled_batches_are_those_of_a_plain_loop(tmp_path):
    model, twin = Regression(dropout=0.2), Regression(dropout=0.2)
    torch.manual_seed(1)
    trainer(tmp_path, max_epochs=2).fit(model, loader(16, shuffle=True), loader(4))
    torch.manual_seed(1)
    data, validation, losses = loader(16, shuffle=True), loader(4), []
    optimizer = SGD(twin.parameters())
    for _ in range(2):
        losses += plain_loop(twin, optimizer, data, 1)
        list(validation)  # its iterator draws a seed, too
    assert model.losses == losses


def test_zero_grad_comes_after_training_step(tmp_path):
    seen = []

    class Looks(Regression):
        def training_step(self, batch, batch_idx):
            seen.append(self.layer[1].bias.grad is not None)
            return super().training_step(batch, batch_idx)

    trainer(tmp_path, max_epochs=1).fit(Looks(), loader())
    assert seen == [False, True, True, True]


def test_training_step_may_skip_a_batch_or_return_more(tmp_path):
    outputs = []

    class Skips(Regression):
        def training_step(self, batch, batch_idx):
            loss = super().training_step(batch, batch_idx)
            return None if batch_idx == 1 else {"loss": loss, "more": batch_idx}

        def on_train_batch_end(self, outputs_, batch, batch_idx):
            outputs.append((outputs_.get("more"), "loss" in outputs_ and outputs_["loss"].requires_grad))

    model = Skips()
    trainer(tmp_path, max_epochs=1).fit(model, loader())
    assert outputs == [(0, False), (None, False), (2, False), (3, False)]
    assert model.losses[2] != model.losses[1]


def test_a_dict_without_loss_is_an_error(tmp_path):
    class NoLoss(Regression):
        def training_step(self, batch, batch_idx):
            return {"other": 1}

    with pytest.raises(L.MisconfigurationException, match="'loss' key"):
        trainer(tmp_path, max_epochs=1).fit(NoLoss(), loader())


def test_minus_one_skips_the_rest_of_the_epoch(tmp_path):
    class Short(Regression):
        def on_train_batch_start(self, batch, batch_idx):
            return -1 if batch_idx == 2 else None

    model = Short()
    runner = trainer(tmp_path, max_epochs=2)
    runner.fit(model, loader())
    assert len(model.losses) == 4 and runner.global_step == 4 and runner.current_epoch == 2


class Adversaries(L.LightningModule):
    """Two optimizers, as in a GAN: the second steps twice for each batch."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.first, self.second = nn.Linear(4, 1), nn.Linear(4, 1)
        self.steps = []

    def training_step(self, batch, batch_idx):
        one, two = self.optimizers()
        for optimizer, layer, times in ((one, self.first, 1), (two, self.second, 2)):
            for _ in range(times):
                optimizer.zero_grad()
                self.manual_backward(layer(batch[0]).pow(2).mean())
                optimizer.step()
                self.steps.append(self.global_step)

    def configure_optimizers(self):
        return torch.optim.SGD(self.first.parameters(), lr=0.1), torch.optim.Adam(self.second.parameters())


def test_global_step_counts_the_steps_of_all_optimizers(tmp_path):
    model = Adversaries()
    runner = trainer(tmp_path, max_epochs=2, limit_train_batches=2)
    runner.fit(model, loader())
    assert runner.global_step == 12 and model.steps == list(range(1, 13))
    assert runner.progress.stepped == 4  # the axis of the loggers: batches


def test_max_steps_counts_optimizer_steps(tmp_path):
    runner = trainer(tmp_path, max_steps=5, accumulate_grad_batches=2)
    model = Regression()
    runner.fit(model, loader(12))
    assert runner.global_step == 5 and len(model.losses) == 10 and runner.current_epoch == 2


def test_several_optimizers_need_manual_optimization(tmp_path):
    model = Adversaries()
    model.automatic_optimization = True
    with pytest.raises(RuntimeError, match="only supported with manual optimization"):
        trainer(tmp_path, max_epochs=1).fit(model, loader())


@pytest.mark.parametrize("options", [{"gradient_clip_val": 1.0}, {"accumulate_grad_batches": 2}])
def test_manual_optimization_does_its_clipping_and_accumulation_itself(tmp_path, options):
    with pytest.raises(L.MisconfigurationException, match="not supported for manual optimization"):
        trainer(tmp_path, max_epochs=1, **options).fit(Adversaries(), loader())


def test_toggling_leaves_gradients_to_one_optimizer(tmp_path):
    seen = []

    class Toggles(Adversaries):
        def training_step(self, batch, batch_idx):
            one, _ = self.optimizers()
            with one.toggle_model():
                seen.append((self.first.bias.requires_grad, self.second.bias.requires_grad))
            seen.append((self.first.bias.requires_grad, self.second.bias.requires_grad))

    trainer(tmp_path, max_epochs=1, limit_train_batches=1).fit(Toggles(), loader())
    assert seen == [(True, False), (True, True)]


FORMS = {
    "optimizer": lambda o, s: o,
    "dict": lambda o, s: {"optimizer": o, "lr_scheduler": s},
    "dict of dict": lambda o, s: {"optimizer": o, "lr_scheduler": {"scheduler": s, "interval": "step"}},
    "two lists": lambda o, s: ([o], [s]),
    "lists with a dict": lambda o, s: ([o], [{"scheduler": s, "frequency": 2}]),
    "tuple of dicts": lambda o, s: ({"optimizer": o, "lr_scheduler": s},),
    "list": lambda o, s: [o],
}
# The rate after two epochs of four batches, halved at each of the scheduler's steps.
RATES = {
    "optimizer": 1.0,
    "dict": 0.25,
    "dict of dict": 2.0**-8,
    "two lists": 0.25,
    "lists with a dict": 0.5,
    "tuple of dicts": 0.25,
    "list": 1.0,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_configure_optimizers(tmp_path, form):
    class Configured(Regression):
        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), lr=1.0)
            return FORMS[form](optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5))

    runner = trainer(tmp_path, max_epochs=2)
    runner.fit(Configured(), loader())
    assert runner.optimizers[0].param_groups[0]["lr"] == RATES[form]


def test_no_optimizer_trains_nothing(tmp_path):
    class Fixed(Regression):
        def configure_optimizers(self):
            return None

    model = Fixed()
    trainer(tmp_path, max_epochs=1).fit(model, loader())
    assert len(model.losses) == 4 and model.layer[1].bias.item() == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (5, "Unknown configuration"),
        ({"lr_scheduler": {"interval": "step"}}, "must have the key"),
        ({"lr_scheduler": {"scheduler": None, "intervall": "step"}}, "unsupported keys"),
        ({"lr_scheduler": {"scheduler": None, "interval": "batch"}}, '"step" or "epoch"'),
    ],
)
def test_wrong_forms_say_what_is_wrong(tmp_path, wrong, words):
    class Wrong(Regression):
        def configure_optimizers(self):
            return {"optimizer": SGD(self.parameters()), **wrong} if isinstance(wrong, dict) else wrong

    with pytest.raises(L.MisconfigurationException, match=words):
        trainer(tmp_path, max_epochs=1).fit(Wrong(), loader())


def test_a_plateau_scheduler_needs_a_monitor_that_is_there(tmp_path):
    def plateau(**options):
        return lambda o: {"scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(o), **options}

    with pytest.raises(L.MisconfigurationException, match="must include a monitor"):
        trainer(tmp_path, max_epochs=1).fit(Regression(scheduler=plateau()), loader())
    with pytest.raises(L.MisconfigurationException, match="metric gone which is not available"):
        trainer(tmp_path, max_epochs=1).fit(Regression(scheduler=plateau(monitor="gone")), loader())
    trainer(tmp_path, max_epochs=1).fit(Regression(scheduler=plateau(monitor="gone", strict=False)), loader())


def test_step_schedulers_step_with_the_optimizer_not_with_batches(tmp_path):
    def each_step(optimizer):
        return {"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5), "interval": "step"}

    model = Regression(optimizer=partial(torch.optim.SGD, lr=1.0), scheduler=each_step)
    runner = trainer(tmp_path, max_epochs=1, accumulate_grad_batches=2)
    runner.fit(model, loader(6))  # batches 1, 2 | 3
    assert runner.optimizers[0].param_groups[0]["lr"] == 0.25


def test_lbfgs_calls_its_closure_several_times(tmp_path):
    model = Regression(optimizer=partial(torch.optim.LBFGS, lr=0.1, max_iter=4))
    runner = trainer(tmp_path, max_epochs=1, limit_train_batches=1)
    runner.fit(model, loader())
    assert runner.global_step == 1 and len(model.losses) > 1 and model.losses[-1] < model.losses[0]


def test_overfit_batches_repeats_the_same_ones(tmp_path):
    seen = []

    class Keeps(Regression):
        def training_step(self, batch, batch_idx):
            seen.append(batch[1].flatten().tolist())
            return super().training_step(batch, batch_idx)

    trainer(tmp_path, max_epochs=2, overfit_batches=2).fit(Keeps(), loader(shuffle=True))
    first = [dataset()[k][1].item() for k in range(4)]
    assert seen == [first[:2], first[2:]] * 2
