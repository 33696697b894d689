"""Grades none_or_zero.py."""

import numpy as np

from exercises.grading import close, equal, points


def near(got, expected, why, what):
    close(np.array(got), np.array(expected), why, what=what)


@points(1, "a step with a gradient")
def test_step(yours):
    p = yours.Parameter(1.0, 1.0)
    optimizer = yours.Momentum([p], 0.1, 0.5, 0.0)
    optimizer.step()
    optimizer.step()
    near(p.value, 1 - 0.1 - 0.15, "buffers 1 and 1.5", "the value after two steps with gradient 1")
    equal(optimizer.state[id(p)], {"step": 2, "buffer": 1.5}, what="its state")


@points(2, "None: passed over")
def test_none(yours):
    p = yours.Parameter(1.0)
    optimizer = yours.Momentum([p], 0.1, 0.5, 0.2)
    optimizer.step()
    near(p.value, 1.0, "no gradient: no decay either", "the value after a step with grad None")
    p.grad = 1.0
    optimizer.step()
    p.grad, before = None, p.value
    optimizer.step()
    near(p.value, before, "its momentum does not move it, either", "the value after a gradient, then None")


@points(2, "None: no state, no count")
def test_no_state(yours):
    p, q = yours.Parameter(1.0), yours.Parameter(1.0, 1.0)
    optimizer = yours.Momentum([p, q], 0.1, 0.5, 0.0)
    optimizer.step()
    equal(
        list(optimizer.state),
        [id(q)],
        "a parameter without gradient costs no memory",
        what="whose state there is",
    )
    q.grad = None
    optimizer.step()
    equal(
        optimizer.state[id(q)],
        {"step": 1, "buffer": 1.0},
        "a step that was passed over does not count",
        what="q's state",
    )


@points(2, "zero: decays, and moves on")
def test_zero(yours):
    p = yours.Parameter(1.0, 1.0)
    optimizer = yours.Momentum([p], 0.1, 0.5, 0.0)
    optimizer.step()
    p.grad = 0.0
    optimizer.step()
    near(p.value, 0.85, "the buffer is 0.5 still", "the value after gradients 1 and 0")
    equal(optimizer.state[id(p)]["step"], 2, "a zero is a gradient: the step counts", what="its step")
    q = yours.Parameter(3.0, 0.0)
    yours.Momentum([q], 0.1, 0.5, 0.2).step()
    near(q.value, 2.94, "the decay shrinks it by 0.1 * 0.2 of itself", "3.0 after gradient 0 with weight_decay 0.2")
    near(q.grad, 0.0, "who logs the gradient after the step wants the loss's, without the decay", "its grad after the step")


@points(1, "zero_grad, both ways")
def test_zero_grad(yours):
    p, q = yours.Parameter(1.0, 2.0), yours.Parameter(1.0)
    optimizer = yours.Momentum([p, q], 0.1, 0.5, 0.0)
    optimizer.zero_grad(set_to_none=False)
    equal(
        [p.grad, q.grad],
        [0.0, None],
        "who had no gradient does not get one",
        what="grads after set_to_none=False",
    )
    optimizer.zero_grad()
    equal([p.grad, q.grad], [None, None], "None is the default", what="grads after zero_grad()")


@points(2, "what freezes")
def test_frozen(yours):
    got = yours.frozen_ways()
    why = "only a zero gradient takes part in the step: momentum and decay still move the parameter"
    expected = {"grad_none": True, "grad_zero": False, "requires_grad": True, "lr_zero": True}
    equal(dict(sorted(got.items())) if type(got) is dict else got, dict(sorted(expected.items())), why)
