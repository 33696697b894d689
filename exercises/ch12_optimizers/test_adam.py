"""Grades adam.py."""

import numpy as np

from exercises.grading import close, equal, points

HALF = {"betas": (0.5, 0.5)}


def run(yours, gradients, start=1.0, **options):
    """(p after each step, the state)."""
    p, state, seen = np.array([start]), {}, []
    for gradient in gradients:
        yours.adam_step(p, np.array([gradient]), state, **options)
        seen.append(float(p[0]))
    return np.array(seen), state


@points(1, "the first step is lr long, whatever the gradient")
def test_first(yours):
    why = "with both corrections m / sqrt(v) is 1 in the first step"
    for gradient in (0.001, 1.0, 1000.0):
        got, _ = run(yours, [gradient], lr=0.1)
        close(
            got,
            np.array([0.9]),
            why,
            what=f"p after a step from 1.0, gradient {gradient}, lr=0.1",
            tolerance=1e-5,
        )


@points(1, "later steps")
def test_later(yours):
    got, state = run(yours, [1.0, 0.0, 2.0], lr=0.1, **HALF)
    expected = [0.9, 1 - 0.1 - 0.1 * (0.25 / 0.75) / np.sqrt(0.25 / 0.75)]
    expected.append(expected[1] - 0.1 * (1.125 / 0.875) / np.sqrt(2.125 / 0.875))
    close(got, np.array(expected), "m and v decay, and are corrected by 1 - beta**t", tolerance=1e-6)
    equal(state["step"], 3, "three steps", what="state['step']")


@points(2, "eps outside the root, after the correction")
def test_eps(yours):
    got, _ = run(yours, [1.0], lr=0.1, eps=1.0)
    close(got, np.array([0.95]), "m / (sqrt(v) + eps) = 1 / (1 + 1)", what="p after a step with eps=1")
    got, _ = run(yours, [3.0], lr=0.1, eps=1.0)
    close(got, np.array([1 - 0.1 * 3 / 4]), "3 / (3 + 1)", what="p after a step, gradient 3, eps=1")


@points(1, "Adam's decay is a part of the gradient")
def test_coupled(yours):
    got, _ = run(yours, [0.0], lr=0.1, weight_decay=0.5)
    why = "the decay is divided by its own root: a step of lr, however small the decay is"
    close(got, np.array([0.9]), why, what="p after a step, gradient 0, weight_decay=0.5", tolerance=1e-6)
    _, state = run(yours, [1.0], start=4.0, lr=0.1, weight_decay=0.5, **HALF)
    why = "g = 1 + 0.5 * 4, and half of it goes into m"
    close(state["exp_avg"], np.array([1.5]), why,
          what="state['exp_avg'] after a step from 4.0, gradient 1, weight_decay=0.5")


@points(2, "AdamW's is not")
def test_decoupled(yours):
    got, state = run(yours, [0.0], lr=0.1, weight_decay=0.5, decoupled=True)
    why = "p *= 1 - lr * weight_decay, and neither m nor v sees it"
    close(got, np.array([0.95]), why, what="p after a step, gradient 0, weight_decay=0.5, decoupled")
    close(state["exp_avg"], np.array([0.0]), why, what="state['exp_avg']")
    got, _ = run(yours, [0.0], start=4.0, lr=0.1, weight_decay=0.5, decoupled=True)
    close(got, np.array([3.8]), why, what="p after a step from 4.0, gradient 0, weight_decay=0.5, decoupled")


@points(1, "each parameter counts its own steps")
def test_own_step(yours):
    run(yours, [1.0, 1.0, 1.0])
    got, state = run(yours, [1.0], lr=0.1)
    why = "this parameter's first step: another one's steps are not its own"
    close(got, np.array([0.9]), why, what="p after its first step", tolerance=1e-6)
    equal(state["step"], 1, why, what="state['step']")


@points(2, "amsgrad keeps the largest v")
def test_amsgrad(yours):
    got, state = run(yours, [4.0, 0.0, 0.0], lr=0.1, amsgrad=True, **HALF)
    close(state["max_exp_avg_sq"], np.array([8.0]), "v was 8, then 4, then 2", what="state['max_exp_avg_sq']")
    close(state["exp_avg_sq"], np.array([2.0]), "v itself goes on to decay", what="state['exp_avg_sq']")
    last = 0.1 / 0.875 * 0.5 / (np.sqrt(8) / np.sqrt(0.875))
    why = "the largest of the v as they are: the correction comes after, with today's t"
    close(np.array(got[1] - got[2]), np.array(last), why, what="the third step", tolerance=1e-6)


@points(1, "without amsgrad there is no third average")
def test_state(yours):
    _, state = run(yours, [1.0])
    equal(
        sorted(state),
        ["exp_avg", "exp_avg_sq", "step"],
        "memory that nobody needs",
        what="the keys of the state",
    )
    g = np.array([1.0])
    yours.adam_step(np.array([1.0]), g, {}, weight_decay=0.1)
    equal(g, np.array([1.0]), "the gradient stays as it is", what="g after the step")
