"""Grades sgd.py."""

import numpy as np

from exercises.grading import close, equal, holds, points


def path(yours, gradients, start=1.0, **options):
    """p after each step."""
    p, buffer, seen = np.array([start]), None, []
    for gradient in gradients:
        buffer = yours.sgd_step(p, np.array([gradient]), buffer, 0.1, **options)
        seen.append(float(p[0]))
    return seen


def check(yours, gradients, expected, why, **options):
    got = path(yours, gradients, **options)
    what = f"p after each step from 1.0, gradients {gradients}, lr=0.1, {options}"
    close(np.array(got), np.array(expected), why, what=what)


@points(1, "plain")
def test_plain(yours):
    check(yours, [1.0, 1.0], [0.9, 0.8], "p -= lr * g")
    p = np.array([1.0])
    equal(yours.sgd_step(p, np.array([1.0]), None, 0.1), None, "without momentum there is no buffer")


@points(1, "in place, and g stays")
def test_in_place(yours):
    p, g = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    alias = p
    first = yours.sgd_step(p, g, None, 0.5, 0.9, 0.0, 0.1)
    close(alias, np.array([0.45, 1.4]), "the model holds this array", what="p after the step")
    equal(g, np.array([1.0, 1.0]), "whoever holds the gradient wants it as it was", what="g after the step")
    yours.sgd_step(p, g, first, 0.5, 0.9)
    first = yours.sgd_step(p, g, None, 0.5, 0.9)
    why = "a buffer in the memory of g changes with the next gradient"
    holds(not np.shares_memory(np.asarray(first), g), why, what="the first buffer, without weight decay")


@points(1, "momentum")
def test_momentum(yours):
    check(yours, [1.0, 0.0, 0.0], [0.9, 0.81, 0.729], "the buffer goes on without a gradient", momentum=0.9)


@points(2, "dampening, but not in the first step")
def test_dampening(yours):
    why = "the first buffer is g itself: 1, not (1 - dampening) * 1"
    check(yours, [1.0, 1.0], [0.9, 0.8], why, momentum=0.5, dampening=0.5)


@points(2, "Nesterov")
def test_nesterov(yours):
    why = "d = g + momentum * buffer, with the new buffer: 1 + 0.9 * 1 first, then 1 + 0.9 * 1.9"
    check(yours, [1.0, 1.0], [0.81, 0.539], why, momentum=0.9, nesterov=True)


@points(1, "weight decay before momentum")
def test_decay(yours):
    check(yours, [0.0, 0.0], [0.98, 0.9604], "decay alone shrinks p", weight_decay=0.2)
    why = "the decay is a part of g: it goes into the buffer, and through momentum"
    check(yours, [0.0, 0.0], [0.98, 0.9424], why, momentum=0.9, weight_decay=0.2)


@points(1, "maximize turns the gradient, not the decay")
def test_maximize(yours):
    check(yours, [1.0], [1.1], "up instead of down", maximize=True)
    check(yours, [1.0], [1.08], "the decay still shrinks p", maximize=True, weight_decay=0.2)


@points(1, "the learning rate is not in the buffer")
def test_lr(yours):
    p = np.array([1.0])
    buffer = yours.sgd_step(p, np.array([1.0]), None, 0.1, 0.5)
    yours.sgd_step(p, np.array([0.0]), buffer, 0.2, 0.5)
    close(p, np.array([0.8]), "0.2 * 0.5 in the second step", what="p after lr 0.1, then lr 0.2")
