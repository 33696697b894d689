"""Grades schedules.py."""

import numpy as np

from exercises.grading import close, points


def check(function, expected, why, what):
    close(
        np.array([float(function(epoch)) for epoch in range(len(expected))]),
        np.array(expected),
        why,
        what=what,
    )


@points(1, "step")
def test_step(yours):
    why = "epoch 0 is what the constructor sets: three epochs at 1, then three at 0.1"
    check(
        lambda e: yours.step(e, 3, 0.1),
        [1, 1, 1, 0.1, 0.1, 0.1, 0.01],
        why,
        "step(epoch, 3, 0.1) of epochs 0 to 6",
    )


@points(2, "multistep, milestones twice")
def test_multistep(yours):
    check(
        lambda e: yours.multistep(e, [2, 4], 0.1),
        [1, 1, 0.1, 0.1, 0.01],
        "from the milestone on",
        "multistep(epoch, [2, 4], 0.1)",
    )
    why = "2 is there twice: gamma counts twice at epoch 2"
    check(
        lambda e: yours.multistep(e, [2, 2, 4], 0.1),
        [1, 1, 0.01, 0.01, 0.001],
        why,
        "multistep(epoch, [2, 2, 4], 0.1)",
    )


@points(1, "linear")
def test_linear(yours):
    why = "from 1/3 to 1 in four equal parts, and 1 for ever after"
    check(
        lambda e: yours.linear(e, 1 / 3, 4),
        [1 / 3, 1 / 2, 2 / 3, 5 / 6, 1, 1, 1],
        why,
        "linear(epoch, 1/3, 4)",
    )


@points(1, "cosine, down")
def test_cosine(yours):
    expected = [1, 0.1 + 0.45 * (1 + np.sqrt(0.5)), 0.55, 0.1 + 0.45 * (1 - np.sqrt(0.5)), 0.1]
    check(
        lambda e: yours.cosine(e, 1.0, 0.1, 4),
        expected,
        "half a cosine from 1 to 0.1",
        "cosine(epoch, 1.0, 0.1, 4)",
    )


@points(2, "cosine, up again")
def test_cosine_up(yours):
    got = [yours.cosine(epoch, 1.0, 0.1, 4) for epoch in (6, 8, 12)]
    why = "the cosine goes on: back to the initial rate at 2 * half. To stay at the minimum, stop stepping"
    close(
        np.array(got), np.array([0.55, 1.0, 0.1]), why, what="cosine(epoch, 1.0, 0.1, 4) of epochs 6, 8, 12"
    )


@points(1, "step by step")
def test_chained(yours):
    rate, seen = 1.0, []
    for epoch in range(7):
        rate = yours.chained(rate, epoch, 3, 0.1)
        seen.append(rate)
    why = "once at epoch 3, once at 6; not at 0, which is the constructor's"
    close(np.array(seen), np.array([1, 1, 1, 0.1, 0.1, 0.1, 0.01]), why, what="chained over epochs 0 to 6")


@points(2, "two on one optimizer multiply")
def test_multiply(yours):
    rate, seen = 1.0, []
    for epoch in range(5):
        rate = yours.chained(rate, epoch, 2, 0.5)
        rate = rate * 0.9 if epoch > 0 else rate
        seen.append(rate)
    expected = [0.5 ** (epoch // 2) * 0.9**epoch for epoch in range(5)]
    why = "it changes the rate that it finds, and knows nothing of an initial one"
    close(
        np.array(seen),
        np.array(expected),
        why,
        what="rates of StepLR(2, 0.5) and ExponentialLR(0.9) together",
    )
