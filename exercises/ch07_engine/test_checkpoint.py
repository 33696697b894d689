"""Grades checkpoint.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points
from teachtorch import nn


def leaf(*values):
    """A float64 leaf that requires a gradient."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def deep(x):
    """A function whose operations save something."""
    for _ in range(5):
        x = torch.tanh(x * 2)
    return x


class Counted:
    """A function that counts its runs, and whether they were recorded."""

    def __init__(self):
        self.recorded = []

    def __repr__(self):
        return "function"

    def __call__(self, x):
        result = torch.tanh(x)
        self.recorded.append(result.requires_grad)
        return result


@points(1, "the value")
def test_value(yours):
    x = leaf(0.1, 0.2)
    y = yours.checkpoint(deep, x)
    close(array_of(y), array_of(deep(x)), "the function's answer", what="checkpoint(function, x)")
    equal(y.requires_grad, True, "it belongs to the graph", what="its requires_grad")


@points(1, "the gradient of the inputs")
def test_gradient(yours):
    x, y = leaf(0.1, 0.2), leaf(0.3, 0.4)
    function = lambda x, y: deep(x) * y  # noqa: E731
    expected = torch.autograd.grad(function(x, y).sum(), [x, y])
    (yours.checkpoint(function, x, y) * 3).sum().backward()
    for got, right, name in ((x.grad, expected[0], "x"), (y.grad, expected[1], "y")):
        got = None if got is None else array_of(got)
        close(got, 3 * array_of(right), "as without a checkpoint", what=f"the gradient of {name}")


@points(1, "an input without a gradient")
def test_constant(yours):
    x, c = leaf(0.1, 0.2), torch.tensor([2.0, 3.0], dtype=torch.float64)
    yours.checkpoint(lambda x, c: deep(x * c), x, c).sum().backward()
    equal(c.grad is None, True, "c requires none", what="whether c.grad is None")
    expected = torch.autograd.grad(deep(x * c).sum(), x)[0]
    close(array_of(x.grad), array_of(expected), "x gets its gradient", what="the gradient of x")


@points(1, "the gradient of parameters inside")
def test_parameters(yours):
    x, w = leaf(0.1, 0.2), leaf(2.0, 3.0)
    yours.checkpoint(lambda x: torch.tanh(x * w), x).sum().backward()
    why = "the function uses w besides: the second run's backward must go all the way to the leaves"
    got = None if w.grad is None else array_of(w.grad)
    expected = array_of(torch.autograd.grad(torch.tanh(x * w).sum(), w)[0])
    equal(got is None, False, why, what="whether w.grad is None")
    close(got, expected, why, what="the gradient of w")


@points(2, "only the inputs are kept")
def test_memory(yours):
    x, packed = leaf(0.1, 0.2), []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: packed.append(1) or tensor, lambda tensor: tensor
    ):
        deep(x)
        plain = len(packed)
        packed.clear()
        yours.checkpoint(deep, x)
    why = f"the forward must record nothing: without a checkpoint {plain} tensors are saved, with one only x"
    equal(len(packed), 1, why, what="how many tensors the forward saved")


@points(1, "the function runs twice: unrecorded, then recorded")
def test_runs(yours):
    x, function = leaf(0.1, 0.2), Counted()
    y = yours.checkpoint(function, x)
    equal(function.recorded, [False], "once so far", what="the runs after the forward: recorded or not")
    y.sum().backward()
    equal(function.recorded, [False, True], "and again in the backward", what="the runs after the backward")


@points(1, "dropout drops the same elements again")
def test_random(yours):
    torch.manual_seed(0)
    x = torch.ones(64, requires_grad=True)
    y = yours.checkpoint(lambda x: nn.functional.dropout(x, 0.5), x)
    torch.rand(7)
    y.sum().backward()
    why = "the second run must see the same random numbers: keep their state in the forward, and set it again"
    holds(
        bool(np.array_equal(array_of(x.grad), array_of(y))),
        why,
        what="whether what was dropped has no gradient",
    )


@points(1, "the program's random numbers go on undisturbed")
def test_random_after(yours):
    x = torch.ones(8, requires_grad=True)
    torch.manual_seed(0)
    y = yours.checkpoint(lambda x: nn.functional.dropout(x, 0.5), x)
    torch.rand(7)
    before = torch.get_rng_state()
    y.sum().backward()
    after = torch.get_rng_state()
    why = "the second run took the state back: without a checkpoint a backward draws no numbers"
    holds(
        bool(np.array_equal(array_of(before), array_of(after))), why, what="whether the state is what it was"
    )


@points(1, "any network")
def test_any(yours, rng):
    torch.manual_seed(rng.randrange(10**6))
    weights = [torch.randn(4, 4, dtype=torch.float64, requires_grad=True) for _ in range(4)]
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)

    def half(first, second):
        return lambda x: torch.tanh(torch.tanh(x @ first) @ second)

    expected = torch.autograd.grad(half(*weights[2:])(half(*weights[:2])(x)).sum(), [x, *weights])
    middle = yours.checkpoint(half(*weights[:2]), x)
    yours.checkpoint(half(*weights[2:]), middle).sum().backward()
    for leaf_, right in zip([x, *weights], expected):
        close(
            array_of(leaf_.grad), array_of(right), "two checkpoints, one after the other", what="a gradient"
        )
