"""Grades twice_differentiable.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points, raises


def leaf(*values):
    """A float64 leaf that requires a gradient."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def gradient(y, x, **options):
    """The gradient of the sum of y."""
    return torch.autograd.grad(y.sum(), x, **options)[0]


@points(1, "Cube: value and gradient")
def test_cube(yours):
    x = leaf(2.0, -1.0)
    y = yours.Cube.apply(x)
    close(array_of(y), np.array([8.0, -1.0]), "x ** 3", what="Cube.apply([2, -1])")
    close(array_of(gradient(y, x)), np.array([12.0, 3.0]), "3 x**2", what="the gradient of Cube")


@points(1, "Cube: the second and third derivative")
def test_cube_twice(yours):
    x = leaf(2.0, -1.0)
    first = gradient(yours.Cube.apply(x), x, create_graph=True)
    why = "the formula must be recorded, in x too: from x.detach() or x.data it looks like a constant"
    holds(
        first.requires_grad,
        why,
        what="whether the gradient has a graph (create_graph=True)",
        got="it has none",
    )
    second = gradient(first, x, create_graph=True, allow_unused=True)
    got = None if second is None else array_of(second)
    close(got, np.array([12.0, -6.0]), why, what="the second derivative of Cube, 6x")
    close(array_of(gradient(second, x)), np.array([6.0, 6.0]), "6", what="the third derivative of Cube")


@points(1, "Cube: a change in place is noticed")
def test_cube_in_place(yours):
    x = leaf(2.0, -1.0)
    middle = x * 1
    y = yours.Cube.apply(middle)
    middle.mul_(10)
    why = "the backward would use the changed x: what goes through save_for_backward is checked"
    raises(RuntimeError, y.sum().backward, why=why, text="modified by an inplace operation")


@points(1, "Cube: what was saved is freed")
def test_cube_freed(yours):
    x = leaf(2.0, -1.0)
    y = yours.Cube.apply(x).sum()
    y.backward()
    why = "save_for_backward lets go after the backward; an attribute of ctx would keep the memory"
    raises(RuntimeError, y.backward, why=why, text="a second time")


@points(1, "Scale: a gradient for each argument")
def test_scale(yours):
    x = leaf(2.0, -1.0)
    y = yours.Scale.apply(x, 5.0)
    close(array_of(y), np.array([10.0, -5.0]), "x * 5", what="Scale.apply(x, 5.0)")
    close(
        array_of(gradient(y, x)),
        np.array([5.0, 5.0]),
        "forward has two arguments: (grad * factor, None)",
        what="the gradient of Scale",
    )


@points(1, "Scale: the second derivative is zero, and can be asked for")
def test_scale_twice(yours):
    x = leaf(2.0, -1.0)
    y = (yours.Scale.apply(x, 5.0) ** 2).sum()
    first = gradient(y, x, create_graph=True)
    close(
        array_of(gradient(first, x)),
        np.array([50.0, 50.0]),
        "(5x)**2 has 2 * 25",
        what="the second derivative",
    )


@points(1, "NumpySin: value and gradient")
def test_sin(yours):
    x = leaf(0.5, 2.0)
    y = yours.NumpySin.apply(x)
    close(array_of(y), np.sin([0.5, 2.0]), "sin(x)", what="NumpySin.apply(x)")
    close(array_of(gradient(y, x)), np.cos([0.5, 2.0]), "cos(x)", what="the gradient of NumpySin")


@points(1, "NumpySin: a second differentiation raises")
def test_sin_twice(yours):
    x = leaf(0.5, 2.0)
    grads = torch.ones(2, dtype=torch.float64, requires_grad=True)
    first = torch.autograd.grad(yours.NumpySin.apply(x), x, grads, create_graph=True)[0]
    why = "NumPy is not recorded: without @once_differentiable -sin(x) would be missing, and nobody told"
    raises(RuntimeError, first.sum().backward, why=why, text="once_differentiable")


@points(1, "any numbers")
def test_any(yours, rng):
    values = [rng.uniform(-3, 3) for _ in range(4)]
    x = leaf(*values)
    equal(
        bool(torch.autograd.gradcheck(yours.Cube.apply, (x,))),
        True,
        "gradcheck agrees",
        what="gradcheck of Cube",
    )
    agrees = torch.autograd.gradgradcheck(yours.Cube.apply, (x,))
    equal(bool(agrees), True, "the second derivatives agree", what="gradgradcheck of Cube")
    agrees = torch.autograd.gradcheck(yours.NumpySin.apply, (x,))
    equal(bool(agrees), True, "gradcheck agrees", what="gradcheck of NumpySin")
