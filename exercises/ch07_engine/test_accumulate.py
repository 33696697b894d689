"""Grades accumulate.py."""

import numpy as np

from exercises.grading import equal, holds, points


class Variable:
    """A leaf: data, and no gradient yet."""

    def __init__(self, data):
        self.data = np.array(data, dtype=float)
        self.grad = None

    def __repr__(self):
        return "variable"


def after(yours, *grads, create_graph=False):
    """A leaf that has got these gradients, one after another."""
    variable = Variable([0.0, 0.0])
    for grad in grads:
        yours.accumulate_grad(variable, grad and np.array(grad), create_graph)
    return variable


@points(1, "a first gradient fills .grad, a second one is added")
def test_second_adds(yours):
    equal(
        after(yours, [1.0, 2.0]).grad, np.array([1.0, 2.0]), "the first gradient", what=".grad after [1, 2]"
    )
    grad = after(yours, [1.0, 2.0], [10.0, 20.0]).grad
    equal(
        grad,
        np.array([11.0, 22.0]),
        "gradients accumulate: 1 + 10, 2 + 20",
        what=".grad after [1, 2], then [10, 20]",
    )


@points(1, "an undefined gradient changes nothing")
def test_undefined(yours):
    equal(after(yours, None).grad, None, "nothing arrived", what=".grad after an undefined gradient")
    grad = after(yours, [1.0, 2.0], None).grad
    equal(
        grad, np.array([1.0, 2.0]), "nothing is added", what=".grad after [1, 2], then an undefined gradient"
    )


@points(1, "a first .grad is a copy of the incoming gradient")
def test_first_is_a_copy(yours):
    variable, incoming = Variable([0.0]), np.array([1.0])
    yours.accumulate_grad(variable, incoming)
    incoming[0] = 99.0
    why = "whoever holds the incoming array writes into it: .grad must not change with it"
    equal(variable.grad, np.array([1.0]), why, what=".grad, after 99 was written into the array that came in")
    variable, incoming = Variable([0.0]), np.array([1.0])
    yours.accumulate_grad(variable, incoming, create_graph=True)
    incoming[0] = 99.0
    why = "with create_graph=True too: the array that came in belongs to others"
    equal(variable.grad, np.array([1.0]), why, what="a first .grad that came with create_graph=True")


@points(1, "adding is in place: .grad stays the same array")
def test_same_array(yours):
    variable = after(yours, [1.0, 2.0])
    held = variable.grad
    yours.accumulate_grad(variable, np.array([10.0, 20.0]))
    why = "an optimizer that holds .grad must see the sum: it has to stay the same array"
    equal(held, np.array([11.0, 22.0]), why, what="the array that was .grad before [10, 20] came")
    holds(
        variable.grad is held,
        why,
        what=".grad is the array it was before",
        got="another one",
        expected="the same one",
    )


@points(1, "create_graph: the old .grad does not change")
def test_create_graph(yours):
    variable = after(yours, [1.0, 2.0])
    old = variable.grad
    yours.accumulate_grad(variable, np.array([10.0, 20.0]), create_graph=True)
    why = "the old .grad may be part of a graph: a new array holds the sum"
    equal(old, np.array([1.0, 2.0]), why, what="the old .grad, after [10, 20] came with create_graph=True")
    equal(
        variable.grad,
        np.array([11.0, 22.0]),
        "the sum",
        what=".grad after [10, 20] came with create_graph=True",
    )


@points(1, "a first .grad has the strides of its parameter")
def test_layout(yours):
    variable = Variable(np.zeros((2, 3)))
    variable.data = variable.data.T
    yours.accumulate_grad(variable, np.ones((3, 2)))
    what = ".grad.strides in bytes, for a parameter that is transposed"
    why = "the layout of .grad follows the strides of the parameter, so that an optimizer walks both alike"
    equal(variable.grad.strides, variable.data.strides, why, what=what)


@points(1, "any number of gradients")
def test_any(yours, rng):
    grads = [[float(rng.randint(-9, 9)) for _ in range(2)] for _ in range(rng.randint(3, 6))]
    expected = np.array(grads).sum(axis=0)
    equal(after(yours, *grads).grad, expected, "the sum of all", what=f".grad after {grads}")
