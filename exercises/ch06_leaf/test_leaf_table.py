"""Grades leaf_table.py."""

import itertools

from exercises.grading import equal, holds, points, raises


def flags(tensor):
    """requires_grad and is_leaf of a tensor."""
    return {"requires_grad": tensor.requires_grad, "is_leaf": tensor.is_leaf}


def table(requires_grad, is_leaf):
    """What is expected of both."""
    return {"requires_grad": requires_grad, "is_leaf": is_leaf}


@points(1, "an operation on a tensor that requires a gradient")
def test_recorded(yours):
    x, c = yours.Tensor(requires_grad=True), yours.Tensor()
    equal(flags(yours.operation([x])), table(True, False), "it has a grad_fn", what="x.exp()")
    equal(flags(yours.operation([c, x])), table(True, False), "one operand is enough", what="c * x")


@points(1, "a result that nobody differentiates is a leaf")
def test_unrecorded(yours):
    c = yours.Tensor()
    why = "nothing was recorded, so it has no grad_fn: results of operations can be leaves"
    equal(
        flags(yours.operation([c, c])), table(False, True), why, what="c * c, where c does not require grad"
    )


@points(1, "a result under no_grad is a leaf")
def test_no_grad(yours):
    x = yours.Tensor(requires_grad=True)
    why = "under no_grad nothing is recorded: no grad_fn, no requires_grad"
    equal(flags(yours.operation([x], grad_mode=False)), table(False, True), why, what="x.exp() under no_grad")


@points(1, "integer results require no gradient")
def test_integers(yours):
    x = yours.Tensor(requires_grad=True)
    why = "an index has no derivative: argmax is not recorded"
    equal(flags(yours.operation([x], dtype="int64")), table(False, True), why, what="x.argmax()")


@points(1, "`.to` of a leaf")
def test_to(yours):
    x = yours.Tensor(requires_grad=True)
    same = yours.to(x, "float32")
    holds(same is x, "nothing changes: it is the same tensor", what='x.to("float32") is x')
    why = "it made another tensor, by an operation: its .grad stays empty, that of x is filled"
    equal(flags(yours.to(x, "float64")), table(True, False), why, what='x.to("float64")')
    equal(
        flags(yours.to(yours.Tensor(), "float64")),
        table(False, True),
        "no gradient is needed",
        what="c.to(...)",
    )


@points(1, "which tensors get a .grad")
def test_gets_grad(yours):
    x, c = yours.Tensor(requires_grad=True), yours.Tensor()
    y = yours.Tensor(requires_grad=True, is_leaf=False)
    equal(yours.gets_grad(x), True, "a leaf that requires a gradient", what="x")
    equal(yours.gets_grad(c), False, "a leaf that requires none", what="c")
    equal(yours.gets_grad(y), False, "its gradient is computed and dropped", what="y = x.exp()")
    equal(
        yours.gets_grad(y, retains_grad=True),
        True,
        "it was asked to keep it",
        what="y, after y.retain_grad()",
    )


@points(1, "setting requires_grad")
def test_requires_grad(yours):
    c = yours.Tensor()
    equal(flags(yours.requires_grad_(c)), table(True, True), "still a leaf", what="c.requires_grad_()")
    equal(
        flags(yours.requires_grad_(c, False)),
        table(False, True),
        "a leaf may",
        what="c.requires_grad_(False)",
    )
    y = yours.Tensor(requires_grad=True, is_leaf=False)
    why = "y belongs to a graph; detach() gives a tensor that does not"
    raises(RuntimeError, yours.requires_grad_, y, False, why=why)
    equal(
        flags(yours.requires_grad_(y)),
        table(True, False),
        "it requires one already",
        what="y.requires_grad_()",
    )


@points(1, "integers cannot require a gradient")
def test_integers_refuse(yours):
    n = yours.Tensor(dtype="int64")
    raises(RuntimeError, yours.requires_grad_, n, why="only floating point tensors can require gradients")
    equal(flags(yours.requires_grad_(n, False)), table(False, True), "it does not anyway", what="off")


@points(1, "the whole table")
def test_table(yours):
    for first, second, grad_mode in itertools.product([True, False], repeat=3):
        operands = [yours.Tensor(requires_grad=first), yours.Tensor(requires_grad=second)]
        recorded = grad_mode and (first or second)
        what = f"a * b: requires_grad {first} and {second}, grad mode {'on' if grad_mode else 'off'}"
        equal(flags(yours.operation(operands, grad_mode)), table(recorded, not recorded), "", what=what)
