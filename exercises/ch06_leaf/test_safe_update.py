"""Grades safe_update.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points

WAYS = ("no_grad", "data", "detach", "out")


def parameter(*values):
    """A leaf with a gradient of 1, 2, 3, ..."""
    p = torch.tensor(values, requires_grad=True)
    p.grad = torch.arange(1.0, len(values) + 1)
    return p


def update(yours, way, p, lr):
    """One of the four updates."""
    return getattr(yours, f"update_{way}")(p, lr)


def check_update(yours, way):
    """The values, the parameter itself, and what it still is."""
    p = parameter(1.0, 1.0)
    memory = p.data_ptr()
    holds(
        update(yours, way, p, 0.5) is None, "it changes p, and returns nothing", what=f"update_{way}(p, 0.5)"
    )
    expected = np.array([0.5, 0.0], np.float32)
    why = "p itself must change: whoever holds it, the model and the optimizer, must see the new values"
    close(
        array_of(p), expected, why, what=f"p after update_{way}(p, 0.5), with p = [1, 1] and p.grad = [1, 2]"
    )
    holds(p.data_ptr() == memory, "in place: the same memory", what="whether p's memory is the same")
    kept = {"is_leaf": p.is_leaf, "requires_grad": p.requires_grad}
    equal(kept, {"is_leaf": True, "requires_grad": True}, "it is a parameter as before", what="p")
    close(array_of(p.grad), np.array([1.0, 2.0], np.float32), "the gradient stays", what="p.grad")


@points(1, "under no_grad")
def test_no_grad(yours):
    check_update(yours, "no_grad")


@points(1, "through .data")
def test_data(yours):
    check_update(yours, "data")


@points(1, "through detach")
def test_detach(yours):
    check_update(yours, "detach")


@points(1, "with out=")
def test_out(yours):
    check_update(yours, "out")


@points(1, "which ways the version counter sees")
def test_versions(yours):
    seen = {}
    for way in WAYS:
        p = parameter(1.0)
        update(yours, way, p, 0.5)
        seen[way] = p._version > 0
    expected = {"no_grad": True, "data": False, "detach": True, "out": True}
    equal(seen, expected, "each way as its name says", what="whether p._version has grown")


@points(1, "which ways a later backward notices")
def test_notices(yours):
    raised = {}
    for way in WAYS:
        p = parameter(1.0)
        loss = (p * p).sum()
        update(yours, way, p, 0.5)
        raised[way] = raises_error(loss)
    said = yours.backward_notices()
    expected = {"no_grad": True, "data": False, "detach": True, "out": True}
    why = ".data has a counter of its own: that backward raises nothing, and is wrong; the others share p's"
    equal(dict(sorted(said.items())) if type(said) is dict else said, dict(sorted(expected.items())), why)
    equal(
        raised,
        expected,
        "the updates behave so",
        what="whether (p * p).sum().backward() raised after the update",
    )


def raises_error(loss):
    """Whether its backward raises."""
    try:
        loss.backward()
    except RuntimeError:
        return True
    return False


@points(1, "ten steps")
def test_ten_steps(yours, rng):
    for way in WAYS:
        start, lr = float(rng.randint(1, 9)), 0.25
        p = torch.tensor([start], requires_grad=True)
        for _ in range(10):
            p.grad = None
            (p * p).sum().backward()
            update(yours, way, p, lr)
        expected = np.array([start * 0.5**10], np.float32)
        what = f"p after ten steps from {start:g}"
        close(array_of(p), expected, "each step takes half of p away", what=what, tolerance=1e-6)
