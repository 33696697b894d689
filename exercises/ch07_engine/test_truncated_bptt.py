"""Grades truncated_bptt.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points


class Cell:
    """new state = w * state + input, and the output is the new state. Looks at each state that it gets."""

    def __init__(self, w, lr=0.0):
        self.w = torch.tensor([w], dtype=torch.float64, requires_grad=True)
        self.lr, self.grads, self.attached = lr, [], []

    def __repr__(self):
        return "cell"

    def __call__(self, x, state):
        self.attached.append(state.requires_grad)
        state = self.w * state + x
        return state, state

    def step(self):
        """Write the gradient down, update in place, clear."""
        self.grads.append(None if self.w.grad is None else float(self.w.grad.item()))
        if self.lr:
            with torch.no_grad():
                self.w -= self.lr * self.w.grad
        self.w.grad = None


def run(yours, cell, inputs, targets, window, state=0.0):
    """train with numbers; what a time step is, is a tensor of one element."""
    tensors = [
        [torch.tensor([float(value)], dtype=torch.float64) for value in each]
        for each in (inputs, targets, [state])
    ]
    return yours.train(cell, tensors[0], tensors[1], tensors[2][0], window, cell.step)


def by_hand(w, inputs, targets, window, state=0.0, lr=0.0):
    """Losses, gradients of w and the last state."""
    losses, grads = [], []
    for begin in range(0, len(inputs), window):
        slope = loss = grad = 0.0
        for x, target in zip(inputs[begin : begin + window], targets[begin : begin + window]):
            slope = state + w * slope
            state = w * state + x
            loss += (state - target) ** 2
            grad += 2 * (state - target) * slope
        w -= lr * grad
        losses.append(loss)
        grads.append(grad)
    return losses, grads, state


ONES, ZEROS = [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]


def floats(values):
    """A float array of what should be a list of numbers."""
    known = type(values) is list and all(type(value) is float for value in values)
    return np.array(values) if known else values


@points(1, "one window: the loss")
def test_one_window(yours):
    losses, state = run(yours, Cell(2.0), [1, 1], [0, 0], 2)
    close(floats(losses), np.array([1.0 + 9.0]), "states 1 and 3, targets 0: 1 + 9", what="the losses")
    close(array_of(state), np.array([3.0]), "the last state", what="the state")


@points(1, "the gradient flows through the whole window")
def test_within(yours):
    cell = Cell(2.0)
    run(yours, cell, ONES[:3], ZEROS[:3], 3)
    expected = by_hand(2.0, ONES[:3], ZEROS[:3], 3)[1]
    why = "inside a window the states stay connected: s2 depends on w through s1, too"
    close(floats(cell.grads), np.array(expected), why, what="the gradient of w for a window of 3")


@points(1, "the state's value goes on into the next window")
def test_carries_over(yours):
    losses, state = run(yours, Cell(2.0), ONES, ZEROS, 2)
    expected, _, last = by_hand(2.0, ONES, ZEROS, 2)
    why = "the second window begins with the state that the first one ended with, not with zeros"
    close(floats(losses), np.array(expected), why, what="the losses of three windows")
    close(array_of(state), np.array([last]), why, what="the last state")


@points(1, "the gradient stops at the window's border")
def test_stops(yours):
    cell = Cell(2.0)
    run(yours, cell, ONES, ZEROS, 2)
    expected = by_hand(2.0, ONES, ZEROS, 2)[1]
    why = "the state comes into a window as a constant: what the window before did is no part of its gradient"
    close(floats(cell.grads), np.array(expected), why, what="the gradient of w, window by window")


@points(1, "the graph does not grow")
def test_no_growth(yours):
    cell = Cell(2.0)
    _, state = run(yours, cell, ONES, ZEROS, 2)
    first = [cell.attached[place] for place in range(0, len(cell.attached), 2)]
    why = "a state with a graph holds the windows before: detach it at the border"
    equal(first, [False, False, False], why, what="requires_grad of the state at the begin of each window")
    equal(state.requires_grad, False, "nobody needs its history", what="requires_grad of the returned state")


@points(1, "a shorter last window")
def test_short(yours):
    cell = Cell(2.0)
    losses, _ = run(yours, cell, ONES[:5], ZEROS[:5], 2)
    equal(len(losses), 3, "2 + 2 + 1 time steps", what="the number of windows for 5 time steps")
    close(
        floats(losses),
        np.array(by_hand(2.0, ONES[:5], ZEROS[:5], 2)[0]),
        "the last time step counts",
        what="the losses",
    )


@points(1, "one step for each window")
def test_steps(yours):
    cell = Cell(0.5)
    run(yours, cell, ONES, ZEROS, 3)
    equal(len(cell.grads), 2, "two windows of 3", what="how often step was called")
    holds(None not in cell.grads, "step comes after backward", what="whether w had a gradient at each step")


@points(1, "any sequence, with updates in place")
def test_any(yours, rng):
    for _ in range(5):
        count, window = rng.randint(1, 9), rng.randint(1, 4)
        inputs, targets = ([rng.randint(-2, 2) for _ in range(count)] for _ in range(2))
        cell = Cell(0.5, lr=0.01)
        losses, state = run(yours, cell, inputs, targets, window, state=1.0)
        expected, grads, last = by_hand(0.5, inputs, targets, window, 1.0, 0.01)
        what = f"{count} time steps in windows of {window}"
        close(floats(losses), np.array(expected), "the sum over each window", what=f"the losses of {what}")
        close(floats(cell.grads), np.array(grads), "window by window", what=f"the gradients of {what}")
        close(array_of(state), np.array([float(last)]), "the last state", what=f"the state after {what}")
