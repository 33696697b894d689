"""Grades go_on.py."""

import teachtorch as torch
from exercises.grading import equal, points

nn = torch.nn


def parts(reverse=False):
    """A model with dropout, Adam, and a scheduler; `reverse`: the optimizer holds its parameters the other
    way round.
    """
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Dropout(0.5), nn.Linear(3, 3, bias=False))
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters[::-1] if reverse else parameters, lr=0.1)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)


def epoch(model, optimizer, scheduler):
    """Three shuffled batches; returns the losses."""
    data = torch.arange(18.0).reshape(6, 3) / 10
    losses = []
    for indices in torch.randperm(6).reshape(3, 2).tolist():
        optimizer.zero_grad()
        loss = (model(data[indices]) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    return losses


def saved(yours, epochs=2):
    """(checkpoint after two epochs, the losses of the epoch after it, the learning rate after that)."""
    now = parts()
    for _ in range(epochs):
        epoch(*now)
    checkpoint = yours.save(*now, epochs)
    return checkpoint, epoch(*now), now[1].param_groups[0]["lr"]


def restored(yours, checkpoint, reverse=False):
    fresh = parts(reverse)
    torch.manual_seed(123)
    return fresh, yours.restore(checkpoint, *fresh)


@points(1, "the weights come back")
def test_weights(yours):
    now = parts()
    epoch(*now)
    checkpoint = yours.save(*now, 1)
    (model, *_), _ = restored(yours, checkpoint)
    got = [p.tolist() for p in model.parameters()]
    equal(
        got, [p.tolist() for p in now[0].parameters()], "state_dict and load_state_dict", what="the weights"
    )


@points(1, "the number of epochs comes back")
def test_epoch(yours):
    _, done = restored(yours, saved(yours)[0])
    equal(done, 2, "two epochs completed when it was saved", what="what restore returned")


@points(1, "a checkpoint holds copies")
def test_copies(yours):
    now = parts()
    epoch(*now)
    weight = now[0][0].weight.tolist()
    checkpoint = yours.save(*now, 1)
    epoch(*now)
    (model, *_), _ = restored(yours, checkpoint)
    why = "training went on after save: the checkpoint must hold copies, not the tensors that it changes"
    equal(model[0].weight.tolist(), weight, why, what="the weight of the first layer")


@points(1, "the learning rate goes on")
def test_learning_rates(yours):
    checkpoint, _, rate = saved(yours)
    fresh, _ = restored(yours, checkpoint)
    equal(
        fresh[1].param_groups[0]["lr"],
        0.025,
        "0.1, halved twice: one of the optimizer's options",
        what="the learning rate after restore",
    )
    epoch(*fresh)
    why = "the scheduler goes on where it was: it is halved again"
    equal(fresh[1].param_groups[0]["lr"], rate, why, what="the learning rate after one more epoch")
    equal(fresh[2].last_epoch, 3, "the scheduler goes on where it was", what="the scheduler's last_epoch")


@points(2, "the losses go on bit for bit")
def test_bit_for_bit(yours):
    checkpoint, expected, _ = saved(yours)
    fresh, _ = restored(yours, checkpoint)
    why = (
        "weights, Adam's averages, learning rate, and the random numbers of dropout and of the "
        "order of batches"
    )
    equal(epoch(*fresh), expected, why, what="the losses of the epoch after the checkpoint")


@points(2, "even if the optimizer holds the parameters in another order")
def test_other_order(yours):
    checkpoint, expected, _ = saved(yours)
    fresh, _ = restored(yours, checkpoint, reverse=True)
    why = "Adam's averages belong to parameters: find them by name, not by their place in the optimizer"
    equal(epoch(*fresh), expected, why, what="the losses of the epoch after the checkpoint")


@points(1, "a checkpoint can be used twice")
def test_twice(yours):
    checkpoint, expected, _ = saved(yours)
    for _ in range(2):
        fresh, _ = restored(yours, checkpoint)
        equal(epoch(*fresh), expected, "restore gives copies, too", what="the losses after the checkpoint")
