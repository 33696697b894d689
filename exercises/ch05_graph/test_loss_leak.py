"""Grades loss_leak.py."""

import weakref

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, equal, holds, points


class Trace:
    """Something that lives as long as a node."""


class Watched(torch.autograd.Function):
    """Gives its input, and has a node whose life can be watched."""

    @staticmethod
    def forward(ctx, x, trace):
        ctx.trace = trace
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Losses:
    """Losses, one after another, that look whether the graph of the one before is still there."""

    def __init__(self, values):
        self.values, self.parameter = values, torch.ones(1, requires_grad=True)
        self.traces, self.alive = [], []

    def __repr__(self):
        return "losses"

    def __iter__(self):
        for value in self.values:
            self.alive.append(sum(trace() is not None for trace in self.traces))
            yield self.make(value)

    def make(self, value):
        """One loss, whose gradient is `value`."""
        trace = Trace()
        self.traces.append(weakref.ref(trace))
        return (Watched.apply(self.parameter, trace) * value).sum()


@points(1, "how many nodes a graph has")
def test_count(yours):
    x = torch.ones(2, requires_grad=True)
    equal(
        yours.count_nodes(x.exp().sum()), 3, "SumBackward0, ExpBackward0, AccumulateGrad", what="exp and sum"
    )
    equal(yours.count_nodes(x), 0, "a leaf has no grad_fn", what="a leaf")
    equal(yours.count_nodes((x * 2).detach()), 0, "detached: no graph", what="a detached tensor")


@points(1, "a shared node counts once")
def test_count_shared(yours):
    x = torch.ones(2, requires_grad=True)
    why = "AddBackward0 and one AccumulateGrad, to which both edges lead"
    equal(yours.count_nodes(x + x), 2, why, what="x + x")
    for _ in range(10):
        x = x + x
    equal(yours.count_nodes(x), 11, "10 additions and AccumulateGrad", what="10 times x = x + x")
    for _ in range(30):
        x = x + x
    why = "40 additions and AccumulateGrad; a walk along every path would take 2**40 steps"
    equal(yours.count_nodes(x), 41, why, what="40 times x = x + x")


@points(1, "the average, as a float")
def test_average(yours):
    equal(
        yours.average_loss(iter(Losses([1.0, 2.0, 6.0]))), 3.0, "(1 + 2 + 6) / 3", what="losses of 1, 2 and 6"
    )
    equal(yours.average_loss(iter(Losses([5.0]))), 5.0, "one loss", what="a loss of 5")


@points(1, "backward runs for each loss")
def test_backward(yours):
    losses = Losses([1.0, 2.0, 6.0])
    yours.average_loss(iter(losses))
    got = None if losses.parameter.grad is None else array_of(losses.parameter.grad)
    equal(
        got, np.array([9.0], np.float32), "the gradients add up: 1 + 2 + 6", what="the parameter's gradient"
    )


@points(1, "one graph at a time")
def test_no_leak(yours):
    losses = Losses([1.0, 2.0, 3.0, 4.0])
    yours.average_loss(iter(losses))
    why = "what you keep of a loss must not be a tensor with a graph, or every graph so far stays alive"
    kept = max(losses.alive)
    holds(
        kept <= 1,
        why,
        what="graphs alive when the next loss is made",
        got=str(losses.alive),
        expected="[0, 0, 0, 0]",
    )


@points(1, "not even the last graph is left when the next one is made")
def test_none_left(yours):
    losses = Losses([1.0, 2.0, 3.0])
    yours.average_loss(iter(losses))
    why = "the loop variable holds the last loss and its graph until it gets the next one: two graphs at once"
    equal(losses.alive[1:], [0, 0], why, what="graphs alive when the next loss is made")


@points(1, "a row without its graph and without the rest of the memory")
def test_row(yours):
    outputs = torch.ones(50, 4, requires_grad=True) * 3
    row = yours.keep_row(outputs)
    equal(array_of(row), np.full(4, 3.0, np.float32), "the first row", what="keep_row(outputs)")
    holds(
        row.grad_fn is None and not row.requires_grad, "it is kept to look at", what="whether it has no graph"
    )
    kept = row.untyped_storage().nbytes()
    equal(kept, 16, "a view of one row keeps all 50 of them", what="the bytes of memory that the row keeps")


@points(1, "later changes of the outputs do not show in the row")
def test_row_is_a_copy(yours):
    outputs = torch.zeros(2, 3)
    row = yours.keep_row(outputs)
    outputs.add_(7)
    equal(
        array_of(row),
        np.zeros(3, np.float32),
        "what was kept is what was there",
        what="the row, after outputs.add_(7)",
    )
