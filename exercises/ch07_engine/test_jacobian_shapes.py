"""Grades jacobian_shapes.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, points


def tensor(*values):
    """A float64 tensor."""
    return torch.tensor(values, dtype=torch.float64)


def shapes(result):
    """The shapes in a nest of tuples of tensors."""
    if isinstance(result, tuple) and not isinstance(result, torch.Size):
        return tuple(shapes(each) for each in result)
    return list(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__


@points(1, "one input, one output")
def test_values(yours):
    result = yours.jacobian(lambda x: torch.stack([x[0] * x[1], x[1] * x[1]]), tensor(2.0, 3.0))
    expected = np.array([[3.0, 2.0], [0.0, 6.0]])
    close(
        array_of(result),
        expected,
        "row i: output i; column j: input j",
        what="jacobian of (x0 x1, x1 x1) at (2, 3)",
    )


@points(1, "the output's shape first, then the input's")
def test_shape(yours):
    x = torch.ones(3, 4, dtype=torch.float64)
    got = shapes(yours.jacobian(lambda x: x.sum(1)[:2], x))
    equal(got, [2, 3, 4], "an output of (2,), an input of (3, 4)", what="the shape of the Jacobian")
    got = shapes(yours.jacobian(lambda x: x.sum(), x))
    equal(got, [3, 4], "an output without dimensions adds none", what="the shape for a sum")


@points(1, "tuples: outputs outside, inputs inside")
def test_nesting(yours):
    x, y = tensor(1.0, 2.0), tensor(1.0, 2.0, 3.0)
    got = shapes(yours.jacobian(lambda x, y: (x.sum() * y, x * 2, y.sum() * x.sum()), (x, y)))
    expected = (([3, 2], [3, 3]), ([2, 2], [2, 3]), ([2], [3]))
    equal(got, expected, "a tuple for each output, of one Jacobian for each input", what="the shapes, nested")


@points(1, "a tuple only where there was one")
def test_no_tuple(yours):
    x, y = tensor(1.0, 2.0), tensor(3.0, 4.0)
    got = shapes(yours.jacobian(lambda x, y: x * y, (x, y)))
    equal(got, ([2, 2], [2, 2]), "one output: no outer tuple", what="the shapes for one output, two inputs")
    got = shapes(yours.jacobian(lambda x: (x * x,), x))
    equal(got, ([2, 2],), "a tuple of one output stays a tuple", what="the shapes for a tuple of one")


@points(1, "what does not depend has zeros")
def test_independent(yours):
    x, y = tensor(1.0, 2.0), tensor(3.0)
    result = yours.jacobian(lambda x, y: (x * 2, y * y), (x, y))
    equal(shapes(result), (([2, 2], [2, 1]), ([1, 2], [1, 1])), "zeros have a shape too", what="the shapes")
    close(array_of(result[0][1]), np.zeros((2, 1)), "x * 2 does not depend on y", what="d(2x)/dy")
    result = yours.jacobian(lambda x: torch.ones(2, dtype=torch.float64), x)
    close(
        array_of(result), np.zeros((2, 2)), "a constant depends on nothing", what="the Jacobian of a constant"
    )


@points(1, "the inputs stay as they are")
def test_inputs(yours):
    x = tensor(1.0, 2.0)
    result = yours.jacobian(lambda x: x * x, x)
    equal([x.requires_grad, x.grad is None], [False, True], "no gradient is asked of x", what="x afterwards")
    equal(
        result.requires_grad,
        False,
        "without create_graph it has no graph",
        what="the Jacobian's requires_grad",
    )
    leaf = tensor(1.0, 2.0).requires_grad_()
    yours.jacobian(lambda x: x * x, leaf)
    equal(leaf.grad is None, True, "a Jacobian fills no .grad", what="the .grad of a leaf afterwards is None")


@points(1, "the Hessian")
def test_hessian(yours):
    result = yours.hessian(lambda x: x[0] * x[0] * x[1] + x[1] * x[2], tensor(2.0, 3.0, 4.0))
    expected = np.array([[6.0, 4.0, 0.0], [4.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    why = "the second derivatives: the gradient must have a graph, to be differentiated again"
    close(array_of(result), expected, why, what="hessian of x0 x0 x1 + x1 x2")
    result = yours.hessian(lambda x: (x**3).sum(), torch.ones(2, 2, dtype=torch.float64))
    equal(shapes(result), [2, 2, 2, 2], "x.shape twice", what="the shape for an input of (2, 2)")


@points(1, "the Hessian of a linear function is zero")
def test_hessian_of_linear(yours):
    result = yours.hessian(lambda x: (x * 3).sum(), tensor(1.0, 2.0))
    close(
        array_of(result),
        np.zeros((2, 2)),
        "its gradient is constant, and has no graph",
        what="hessian of sum(3x)",
    )


@points(1, "any function")
def test_any(yours, rng):
    numbers = np.random.default_rng(rng.randrange(10**6))
    a = numbers.standard_normal((3, 3))
    matrix, x = torch.tensor(a), torch.tensor(numbers.standard_normal(3))
    result = yours.jacobian(lambda x: torch.tanh(matrix @ x), x)
    slope = 1 - np.tanh(a @ array_of(x)) ** 2
    close(array_of(result), slope[:, None] * a, "(1 - tanh**2) A", what="jacobian of tanh(A x)")
    result = yours.hessian(lambda x: x @ (matrix @ x), x)
    close(array_of(result), a + a.T, "A + A.T: symmetric", what="hessian of x A x")
