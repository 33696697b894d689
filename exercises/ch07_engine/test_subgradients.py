"""Grades subgradients.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points


def floats(*values):
    """A float array."""
    return np.array(values, dtype=float)


@points(1, "max: one largest element")
def test_max(yours):
    close(yours.max_backward(2.0, floats(3, 9, 5)), floats(0, 2, 0), "the largest gets all of it")


@points(1, "max: ties share the gradient")
def test_max_ties(yours):
    why = "the gradient is split evenly: with all of it for each, a step would move the maximum twice"
    close(yours.max_backward(6.0, floats(3, 5, 5)), floats(0, 3, 3), why)
    close(yours.max_backward(6.0, np.full((2, 3), 7.0)), np.ones((2, 3)), "six largest")


@points(1, "abs: the sign, and 0 at 0")
def test_abs(yours):
    got = yours.abs_backward(floats(10, 10, 10), floats(-2, 0, 3))
    close(got, floats(-10, 0, 10), "at 0 the slopes are -1 and 1: PyTorch takes the middle, 0")


@points(1, "clamp: nothing moves outside")
def test_clamp(yours):
    got = yours.clamp_backward(floats(1, 2, 3, 4), floats(-5, 0.25, 0.75, 5), 0.0, 1.0)
    close(got, floats(0, 2, 3, 0), "outside the bounds the output does not move")


@points(1, "prod: the product of the others")
def test_prod(yours):
    close(yours.prod_backward(2.0, floats(2, 5, 3)), floats(30, 12, 20), "2 times the product of the others")
    close(yours.prod_backward(1.0, floats(7)), floats(1), "an empty product is 1")


@points(1, "prod: exact with zeros")
def test_prod_zeros(yours):
    with np.errstate(all="ignore"):
        got = yours.prod_backward(1.0, floats(2, 0, 3))
        close(got, floats(0, 6, 0), "the product of the others, 2 * 3 for the zero: out / x is 0 / 0 there")
        close(
            yours.prod_backward(1.0, floats(2, 0, 0)),
            floats(0, 0, 0),
            "with two zeros each one meets another",
        )


@points(1, "where: the value")
def test_log_value(yours):
    x = torch.tensor([1.0, 0.0, -1.0, 4.0], dtype=torch.float64)
    got = array_of(yours.log_or_zero(x))
    close(
        got,
        floats(0, 0, 0, np.log(4)),
        "log where x is positive, 0 elsewhere",
        what="log_or_zero([1, 0, -1, 4])",
    )


@points(1, "where: no nan in the gradient")
def test_log_gradient(yours):
    x = torch.tensor([1.0, 0.0, -1.0, 4.0], dtype=torch.float64, requires_grad=True)
    yours.log_or_zero(x).sum().backward()
    got = array_of(x.grad)
    why = "0 * inf is nan: log's backward multiplies the gradient 0 of the branch that was not taken by 1/0"
    holds(
        bool(np.isfinite(got).all()),
        why,
        what="the gradient of log_or_zero([1, 0, -1, 4])",
        got=str(got.tolist()),
    )
    close(got, floats(1, 0, 0, 0.25), "1/x where x is positive, 0 elsewhere", what="the gradient")


@points(1, "any product")
def test_any(yours, rng):
    for _ in range(10):
        x = floats(*(rng.randint(-2, 3) for _ in range(rng.randint(2, 5))))
        expected = floats(*(np.prod(np.delete(x, place)) for place in range(x.size)))
        with np.errstate(all="ignore"):
            close(yours.prod_backward(1.0, x), expected, "the product of all others")
        largest = x == x.max()
        close(yours.max_backward(1.0, x), largest / largest.sum(), "shared by the largest")
        equal(
            bool(np.isclose(yours.max_backward(1.0, x).sum(), 1.0)),
            True,
            "nothing is lost",
            what="its sum is 1",
        )
