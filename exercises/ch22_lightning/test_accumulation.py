"""Grades accumulation.py."""

import teachtorch as torch
from exercises.grading import close, equal, points


def line():
    """y = w x, with w = 1."""
    model = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(1.0)
    return model


def batches_of(*values):
    return [(torch.tensor([[x]]), torch.tensor([[0.0]])) for x in values]


def trained(yours, values, accumulate, **more):
    """(weight, steps) after one epoch with SGD, lr=0.1."""
    model = line()
    steps = yours.train_epoch(
        model, batches_of(*values), torch.optim.SGD(model.parameters(), lr=0.1), accumulate, **more
    )
    return model.weight.item(), steps


class Counter:
    """Stands for a scheduler."""

    def __init__(self):
        self.count = 0

    def step(self):
        self.count += 1


@points(1, "one step for a group")
def test_groups(yours):
    why = "4 batches in groups of 2: a step after the second and after the fourth"
    equal(yours.steps_after(4, 2), [False, True, False, True], why)
    equal(yours.steps_after(2, 1), [True, True], "groups of one: every batch")


@points(1, "the last group steps though it is not full")
def test_last_group(yours):
    why = "5 batches in groups of 2: the last group has one batch, and steps all the same"
    equal(yours.steps_after(5, 2), [False, True, False, True, True], why)
    equal(yours.steps_after(2, 5), [False, True], "the last group is the only one here")


@points(2, "a group is one large batch")
def test_as_one_large_batch(yours):
    got, _ = trained(yours, [1.0, 2.0], 2)
    why = (
        "the loss w²x² has the gradients 2 and 8; of the mean that is 5 (each loss divided "
        "by 2), and these are "
        "the gradients of the whole group: w = 1 - 0.1 * 5"
    )
    close(got, 0.5, why, what="the weight", tolerance=1e-6)


@points(1, "groups that are not full are divided by the same number")
def test_partial_value(yours):
    got, steps = trained(yours, [1.0], 2)
    close(got, 0.9, "one batch of a group of two: gradient 2 / 2", what="the weight", tolerance=1e-6)
    equal(steps, 1, "it is a step", what="the steps")


@points(1, "global_step counts optimizer steps")
def test_global_step(yours):
    equal(trained(yours, [1.0] * 5, 2)[1], 3, "5 batches in groups of 2", what="the steps of train_epoch")
    equal(yours.total_steps(5, 2, 4), 12, "3 in each of 4 epochs: groups do not go on into the next epoch")


@points(1, "a scheduler per step")
def test_scheduler_per_step(yours):
    counter = Counter()
    trained(yours, [1.0] * 5, 2, scheduler=counter, per="step")
    equal(counter.count, 3, "after each optimizer step, not after each batch", what="the scheduler's steps")


@points(1, "a scheduler per epoch")
def test_scheduler_per_epoch(yours):
    counter = Counter()
    trained(yours, [1.0] * 5, 2, scheduler=counter)
    equal(counter.count, 1, "once, after the last batch", what="the scheduler's steps")


@points(2, "any epoch, as the formula says")
def test_any(yours, rng):
    for _ in range(10):
        values = [rng.choice([0.5, 1.0, 1.5]) for _ in range(rng.randint(1, 6))]
        accumulate = rng.randint(1, 4)
        weight = 1.0
        for start in range(0, len(values), accumulate):
            group = values[start : start + accumulate]
            weight -= 0.1 * sum(2 * weight * x * x for x in group) / accumulate
        why = f"groups of {accumulate}, each loss divided by {accumulate}, the last group too"
        close(
            trained(yours, values, accumulate)[0],
            weight,
            why,
            what=f"the weight after {values}",
            tolerance=1e-5,
        )
