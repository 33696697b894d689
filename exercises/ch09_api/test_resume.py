"""Grades resume.py."""

import io

import teachtorch as torch
from exercises.grading import array_of, equal, points
from teachtorch import nn


class Run:
    """A small training: a network with buffers and dropout, an optimizer with momentum, a schedule."""

    def __init__(self, dropout=0.0, gamma=1.0, optimizer="SGD"):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(dropout), nn.Linear(4, 1))
        options = {"momentum": 0.9} if optimizer == "SGD" else {}
        self.optimizer = getattr(torch.optim, optimizer)(self.model.parameters(), lr=0.1, **options)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=gamma)
        self.data = torch.linspace(-1, 1, 18).reshape(6, 3)

    def epoch(self):
        """One epoch; the loss."""
        self.optimizer.zero_grad()
        loss = (self.model(self.data) - self.data[:, :1]).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    def parts(self):
        return self.model, self.optimizer, self.scheduler


def losses(yours, through_file=True, **options):
    """The losses of epochs 2 and 3: of a run that went on, and of one that was resumed."""
    run = Run(**options)
    run.epoch(), run.epoch()
    saved = yours.checkpoint(*run.parts(), 1)
    if through_file:
        file = io.BytesIO()
        torch.save(saved, file)
    on = [run.epoch(), run.epoch()]
    if through_file:
        file.seek(0)
        saved = torch.load(file)
    other = Run(**options)
    yours.resume(saved, *other.parts())
    return [other.epoch(), other.epoch()], on


@points(1, "the optimizer's memory")
def test_momentum(yours):
    found, expected = losses(yours)
    equal(found, expected, "the next step depends on the momentum, which the optimizer holds",
          what="the losses of epochs 2 and 3 after resuming")


@points(1, "the schedule")
def test_schedule(yours):
    found, expected = losses(yours, gamma=0.5)
    equal(found, expected, "the learning rate of epoch 3 depends on where the schedule is",
          what="the losses of epochs 2 and 3 after resuming")
    run, other = Run(gamma=0.5), Run(gamma=0.5)
    run.epoch(), run.epoch()
    yours.resume(yours.checkpoint(*run.parts(), 1), *other.parts())
    equal(other.scheduler.last_epoch, run.scheduler.last_epoch, "it tells where the schedule is",
          what="scheduler.last_epoch after resuming")


@points(1, "random numbers")
def test_random_numbers(yours):
    found, expected = losses(yours, dropout=0.5)
    equal(found, expected, "dropout draws from the generator: its state is part of the training",
          what="the losses of epochs 2 and 3 after resuming")


@points(1, "buffers")
def test_buffers(yours):
    run, other = Run(), Run()
    run.epoch(), run.epoch()
    yours.resume(yours.checkpoint(*run.parts(), 1), *other.parts())
    equal(array_of(other.model[1].running_mean).tolist(), array_of(run.model[1].running_mean).tolist(),
          "batch norm's running statistics are buffers: state_dict has them, parameters() has not",
          what="running_mean after resuming")


@points(1, "a snapshot")
def test_snapshot(yours):
    found, expected = losses(yours, through_file=False)
    equal(found, expected, "the tensors of a state_dict are the live ones: they go on changing unless they are copied",
          what="the losses of epochs 2 and 3 after resuming from a checkpoint that was kept in memory")


@points(1, "the next epoch")
def test_next_epoch(yours):
    run, other = Run(), Run()
    next_epoch = yours.resume(yours.checkpoint(*run.parts(), 4), *other.parts())
    equal(next_epoch, 5, "epoch 4 is over", what="the epoch to go on with")


@points(1, "any optimizer")
def test_any(yours, rng):
    name = rng.choice(["SGD", "Adam", "RMSprop", "AdamW", "Adagrad"])
    found, expected = losses(yours, dropout=0.3, gamma=0.9, optimizer=name)
    equal(found, expected, f"with {name}, all parts together", what="the losses of epochs 2 and 3 after resuming")
