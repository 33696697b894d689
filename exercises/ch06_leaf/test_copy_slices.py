"""Grades copy_slices.py."""

import numpy as np

from exercises.grading import equal, points


def doubled(grad):
    """The backward of mul_(2)."""
    return (2 * grad,)


def run(yours, grad, key, backward=doubled):
    """The gradient of the old base, with a gradient of your own."""
    return yours.copy_slices(grad.copy(), key, backward)[0]


@points(1, "inside the slice the operation's backward runs")
def test_inside(yours):
    grad = np.array([1.0, 10.0, 100.0, 1000.0])
    base = run(yours, grad, slice(1, 3))
    inside = base[1:3] if type(base) is np.ndarray else base
    equal(
        inside,
        np.array([20.0, 200.0]),
        "v.mul_(2): the gradient of the old v is twice that of the new one",
        what="the gradient of b[1:3], after b[1:3].mul_(2)",
    )


@points(1, "outside the slice the gradient passes unchanged")
def test_outside(yours):
    grad = np.array([1.0, 10.0, 100.0, 1000.0])
    base = run(yours, grad, slice(1, 3))
    outside = base[[0, 3]] if type(base) is np.ndarray else base
    why = "b[0] and b[3] were not touched: their gradient goes through"
    equal(outside, np.array([1.0, 1000.0]), why, what="the gradient of b[0] and b[3], after b[1:3].mul_(2)")


@points(1, "the incoming gradient is not changed")
def test_does_not_mutate(yours):
    grad = np.array([1.0, 10.0, 100.0])
    yours.copy_slices(grad, slice(0, 2), doubled)
    equal(
        grad,
        np.array([1.0, 10.0, 100.0]),
        "others may hold it: a hook, retain_grad, another path",
        what="the incoming gradient after copy_slices",
    )


@points(1, "values that are overwritten get no gradient")
def test_none(yours):
    grad = np.array([1.0, 10.0, 100.0])
    base = run(yours, grad, slice(0, 2), lambda grad: (None,))
    why = "b[0:2].fill_(7): the old values have no influence any more, so their gradient is 0"
    equal(base, np.array([0.0, 0.0, 100.0]), why, what="copy_slices with a backward that returns (None,)")


@points(1, "the other operands' gradients")
def test_others(yours):
    grad = np.array([1.0, 10.0, 100.0])
    w, old = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    _, others = yours.copy_slices(grad.copy(), slice(0, 2), lambda grad: (grad * w, grad * old))
    equal(
        others,
        [np.array([5.0, 70.0])],
        "v.mul_(w): the gradient of w is that of the new v times the old v",
        what="others, for b[0:2].mul_(w)",
    )
    equal(
        yours.copy_slices(grad.copy(), slice(0, 2), doubled)[1],
        [],
        "mul_(2) has no other operand",
        what="others",
    )


@points(1, "mul_ by a number, and copy_")
def test_backwards(yours):
    grad = np.array([1.0, 10.0, 100.0])
    base, others = yours.copy_slices(grad.copy(), 1, yours.scale_backward(3.0))
    equal(base, np.array([1.0, 30.0, 100.0]), "b[1].mul_(3)", what="the gradient of the old b")
    base, others = yours.copy_slices(grad.copy(), slice(1, 3), yours.copy_backward())
    equal(base, np.array([1.0, 0.0, 0.0]), "b[1:3].copy_(c) overwrites", what="the gradient of the old b")
    equal(others, [np.array([10.0, 100.0])], "c went into b[1:3]", what="the gradient of c")


@points(1, "any slice of any base")
def test_any(yours, rng):
    numbers = np.random.default_rng(rng.randrange(10**6))
    for key in (2, (slice(None), 1), (slice(0, 3, 2), slice(1, None)), (1, 2), (Ellipsis, slice(0, 2))):
        grad = numbers.integers(1, 9, (3, 4)).astype(float)
        factor = float(rng.randint(2, 5))
        expected = grad.copy()
        expected[key] *= factor
        base = run(yours, grad, key, lambda part, factor=factor: (factor * part,))
        equal(
            base, expected, f"inside times {factor:g}, outside unchanged", what=f"b[{key}].mul_({factor:g})"
        )
