"""Grades plateau.py."""

import numpy as np

from exercises.grading import close, equal, points


def rates(yours, metrics, **options):
    scheduler, seen = yours.Plateau(1.0, **options), []
    for metric in metrics:
        scheduler.step(metric)
        seen.append(scheduler.lr)
    return seen


def check(yours, metrics, expected, why, **options):
    got = rates(yours, metrics, **options)
    close(np.array(got), np.array(expected), why, what=f"lr after each of the metrics {metrics}, {options}")


@points(1, "while it gets better, nothing happens")
def test_better(yours):
    check(yours, [5.0, 4.0, 3.0, 2.0], [1.0] * 4, "each epoch is the best so far", patience=0)
    check(
        yours,
        [-1.0, -2.0, -3.0],
        [1.0] * 3,
        "a loss below zero can get better, too",
        patience=0,
        threshold=0.0,
    )


@points(2, "more than patience bad epochs")
def test_patience(yours):
    why = "patience=2: two bad epochs are borne, the third one lowers the rate"
    check(yours, [1.0] * 8, [1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01], why, patience=2)
    check(yours, [1.0, 1.0, 1.0], [1, 0.1, 0.01], "patience=0: at once", patience=0)


@points(1, "a better epoch clears the count")
def test_clears(yours):
    check(
        yours,
        [1.0, 1.0, 0.5, 0.5, 0.5],
        [1, 1, 1, 1, 0.1],
        "the bad epochs must come one after the other",
        patience=1,
    )


@points(2, "a relative threshold, for both modes")
def test_relative(yours):
    why = "0.95 is not below 1.0 * (1 - 0.1): it does not count as better"
    check(yours, [1.0, 0.95, 0.89], [1, 0.1, 0.1], why, patience=0, threshold=0.1)
    why = "1.05 is not above 1.0 * (1 + 0.1), 1.2 is"
    check(yours, [1.0, 1.05, 1.2], [1, 0.1, 0.1], why, patience=0, threshold=0.1, mode="max")
    why = "3.8 is not below 4.0 * (1 - 0.1): a tenth of the best, whatever its size"
    check(yours, [4.0, 3.8, 3.5], [1, 0.1, 0.1], why, patience=0, threshold=0.1)


@points(1, "an absolute threshold")
def test_absolute(yours):
    options = {"patience": 0, "threshold": 0.5, "threshold_mode": "abs"}
    check(yours, [10.0, 9.6, 9.4], [1, 0.1, 0.1], "9.6 is not below 10 - 0.5; 9.4 is", **options)


@points(1, "cooldown")
def test_cooldown(yours):
    why = "for two epochs after a change bad epochs do not count"
    check(yours, [1.0] * 7, [1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01], why, patience=0, cooldown=2)
    why = "a better epoch does not end the cooldown, it is one of its two"
    check(yours, [1.0, 1.0, 0.5, 0.5, 0.5], [1, 0.1, 0.1, 0.1, 0.01], why, patience=0, cooldown=2)


@points(1, "never below min_lr")
def test_minimum(yours):
    check(yours, [1.0] * 4, [1, 0.1, 0.05, 0.05], "0.05 is the lowest", patience=0, min_lr=0.05)
    scheduler = yours.Plateau(0.1)
    scheduler.step(2.0)
    equal(scheduler.best, 2.0, "the first metric is the best so far", what="best after the first metric")
