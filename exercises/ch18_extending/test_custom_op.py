"""Grades custom_op.py."""

import itertools

import teachtorch as torch
from exercises.grading import close, equal, holds, points

NUMBER = itertools.count()


def operator(yours):
    """The learner's functions as an operator, under a new name each time."""
    name, schema = f"learner::soft_square_{next(NUMBER)}", "(Tensor x, float k) -> Tensor"
    op = torch.library.custom_op(name, yours.forward, mutates_args=(), schema=schema)
    op.register_fake(yours.fake)
    op.register_autograd(yours.backward, setup_context=yours.setup_context)
    return op


@points(1, "inside: a square")
def test_inside(yours):
    close(yours.forward(torch.tensor([0.5, -1.0, 0.0]), 1.0).tolist(), [0.25, 1.0, 0.0], "|x| <= 1: x * x")


@points(1, "outside: a line")
def test_outside(yours):
    close(yours.forward(torch.tensor([3.0, -2.0]), 1.0).tolist(), [5.0, 3.0], "1 * (2 * 3 - 1), and the same for |-2|")
    close(yours.forward(torch.tensor([3.0, -1.5]), 2.0).tolist(), [8.0, 2.25], "with k = 2: 2 * (2 * 3 - 2), and (-1.5) ** 2")


@points(2, "the argument stays as it was")
def test_not_changed(yours):
    x = torch.tensor([3.0, -2.0])
    yours.forward(x, 1.0)
    equal(x.tolist(), [3.0, -2.0], "mutates_args=() is a promise: forward must not write into x")


@points(1, "a new tensor")
def test_new(yours):
    x = torch.tensor([0.0, 1.0])
    holds(yours.forward(x, 5.0).data_ptr() != x.data_ptr(), "the result must not share x's memory: no operator may return an alias")
    y = yours.forward(torch.ones(2, 3, dtype=torch.float64).t(), 1.0)
    equal([str(y.dtype), tuple(y.stride())], ["torch.float64", (2, 1)], "of x's dtype, and contiguous whatever x looks like",
          what="dtype and strides of the result, for a transposed float64 x of strides (1, 3)")


@points(2, "the fake looks like the real one")
def test_fake(yours):
    for x in (torch.ones(2, 3), torch.ones(2, 3).t(), torch.ones(2, dtype=torch.float64)):
        real, made = yours.forward(x, 1.0), yours.fake(x.to("meta"), 1.0)
        why = f"for x of {x.dtype}, shape {tuple(x.shape)} and strides {x.stride()}"
        equal(tuple(made.shape), tuple(real.shape), why)
        equal(str(made.dtype), str(real.dtype), why)
        equal(tuple(made.stride()), tuple(real.stride()), why)


@points(1, "and has no data")
def test_meta(yours):
    equal(yours.fake(torch.ones(3, device="meta"), 1.0).device.type, "meta", "a tensor without data makes one without data")


@points(1, "it is an operator")
def test_operator(yours):
    x = torch.tensor([0.5, 3.0], requires_grad=True)
    y = operator(yours)(x, 1.0)
    close(y.tolist(), [0.25, 5.0], "the operator returns what forward returns")
    equal(y.requires_grad, True, "and is differentiable")


@points(2, "opcheck does not look at the numbers; gradcheck does")
def test_gradient(yours):
    x = torch.tensor([0.5, -0.3, 3.0, -2.0], dtype=torch.float64, requires_grad=True)
    why = "gradcheck: the slope is 2 * x inside and 2 * k * sign(x) outside"
    for k in (1.0, 2.5):
        right = torch.autograd.gradcheck(operator(yours), (x, k), raise_exception=False)
        holds(right, why, what=f"gradcheck of soft_square at {x.tolist()} with k = {k}")
