"""Grades windows.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, equal, points, raises


def ask(yours, sizes, strides, dim, size, step, why):
    """Compare with what the library does."""
    view = torch.empty_strided(sizes, strides).unfold(dim, size, step)
    expected = (tuple(view.shape), tuple(view.stride()))
    equal(yours.unfold(sizes, strides, dim, size, step), expected, why, names=["sizes", "strides"])


@points(1, "how many windows")
def test_count(yours):
    ask(yours, (4,), (1,), 0, 2, 1, "3 windows begin at 0, 1 and 2")
    ask(yours, (5,), (1,), 0, 5, 1, "one window: the whole dimension")


@points(1, "a step: fewer windows, and the stride between them grows")
def test_step(yours):
    ask(yours, (7,), (1,), 0, 3, 2, "3 windows, each 2 slots after the one before; within a window 1 slot")
    ask(yours, (8,), (3,), 0, 3, 2, "the last element fills no window; the strides are multiples of 3")


@points(1, "the place inside the window is the last dimension")
def test_last(yours):
    ask(yours, (4, 5), (5, 1), 0, 2, 1, "the window's own dimension comes last, behind dimension 1")
    ask(yours, (4, 5, 6), (30, 6, 1), -2, 2, 2, "dim -2 is dimension 1")


@points(1, "what does not fit raises RuntimeError")
def test_errors(yours):
    raises(RuntimeError, yours.unfold, (3,), (1,), 0, 4, 1, why="a window of 4 does not fit into 3 elements")
    raises(RuntimeError, yours.unfold, (3,), (1,), 0, 2, 0, why="with step 0 the windows would never end")


@points(2, "backward: an element in two windows gets two gradients")
def test_backward(yours):
    grad = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    why = "element 2 is the last of the first window and the first of the second: 4 + 8"
    equal(yours.unfold_backward(grad, 6, 2), np.array([1.0, 2.0, 12.0, 16.0, 32.0, 0.0]), why)


@points(2, "any windows, forward and backward")
def test_any(yours, rng):
    for _ in range(20):
        sizes = tuple(rng.randint(2, 5) for _ in range(rng.randint(1, 3)))
        strides = tuple(rng.randint(1, 9) for _ in sizes)
        dim = rng.randrange(len(sizes))
        size, step = rng.randint(1, sizes[dim]), rng.randint(1, 3)
        ask(yours, sizes, strides, dim, size, step, "windows in place of dim, their places at the end")
        x = torch.zeros(sizes[dim], dtype=torch.float64, requires_grad=True)
        out = x.unfold(0, size, step)
        grad = torch.arange(1.0, out.numel() + 1, dtype=torch.float64).reshape(tuple(out.shape))
        out.backward(grad)
        equal(yours.unfold_backward(array_of(grad), sizes[dim], step), array_of(x.grad), "overlaps add")
