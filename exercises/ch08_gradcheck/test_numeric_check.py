"""Grades numeric_check.py."""

import numpy as np

from exercises.grading import close, equal, points


def matrix_function(matrix):
    """x -> matrix @ x, whose Jacobian is the matrix."""
    return lambda x: matrix @ x


@points(1, "rows are outputs, columns are inputs")
def test_shape(yours):
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    answer = yours.numerical_jacobian(matrix_function(matrix), np.zeros(3))
    close(
        answer,
        matrix,
        "f(x) = A x: the Jacobian is A",
        what="numerical_jacobian of f(x) = A x",
        tolerance=1e-6,
    )
    x = np.array([1.0, 2.0])
    yours.numerical_jacobian(lambda x: x * x, x)
    equal(
        x,
        np.array([1.0, 2.0]),
        "the input is the caller's: it must not move",
        what="x after numerical_jacobian",
    )


@points(1, "x is exactly what it was, and f may return its very input")
def test_restores(yours, rng):
    x = np.array([rng.random() for _ in range(20)])
    before = x.copy()
    answer = yours.numerical_jacobian(lambda x: x, x)
    why = "x + eps - eps is not always x in floating point: keep the old number and put it back"
    equal(x, before, why, what="x after numerical_jacobian of f(x) = x")
    why = "f may return its very input: what it returned for x + eps must not change with x afterwards"
    close(answer, np.eye(20), why, what="numerical_jacobian of f(x) = x", tolerance=1e-6)


@points(1, "the difference is central")
def test_central(yours):
    answer = yours.numerical_jacobian(lambda x: x * x, np.array([1.0]))
    why = "with one side only x*x gives 2 + eps = 2.000001; the errors of both sides cancel"
    close(answer, np.array([[2.0]]), why, what="numerical_jacobian of x*x at 1", tolerance=1e-7)


@points(1, "eps is small enough for a curved function")
def test_small_eps(yours):
    answer = yours.numerical_jacobian(lambda x: np.exp(50 * x), np.array([0.0]))
    why = "with a large eps the curvature shows: exp(50 x) bends a lot within 1e-3"
    close(answer, np.array([[50.0]]), why, what="numerical_jacobian of exp(50 x) at 0", tolerance=1e-6)
    answer = yours.numerical_jacobian(lambda x: x**3, np.array([1.0]), eps=0.5)
    close(answer, np.array([[3.25]]), "(1.5**3 - 0.5**3) / (2 * 0.5)",
          what="numerical_jacobian of x**3 at 1 with eps=0.5")


@points(1, "a right backward passes, a wrong one does not")
def test_verdict(yours):
    x = np.array([0.3, 0.7])
    answer = yours.gradcheck(np.sin, lambda x, grad: grad * np.cos(x), x)
    equal(answer, True, "the derivative of sin is cos", what="gradcheck of sin with cos")
    answer = yours.gradcheck(np.sin, lambda x, grad: grad * np.cos(x) * 1.01, x)
    equal(answer, False, "one percent off is more than rtol = 1e-3", what="gradcheck of sin with 1.01 * cos")
    answer = yours.gradcheck(np.sin, lambda x, grad: grad * np.cos(x) * 0.99, x)
    equal(answer, False, "too small is as wrong as too large", what="gradcheck of sin with 0.99 * cos")
    why = "every comparison with nan is False: ask whether they agree, not whether they differ"
    answer = yours.gradcheck(np.sin, lambda x, grad: grad * np.nan, x)
    equal(answer, False, why, what="gradcheck of sin with a backward that gives nan")


@points(1, "every entry is compared, not their sum")
def test_every_entry(yours):
    swapped = lambda x, grad: grad[::-1].copy()  # noqa: E731
    answer = yours.gradcheck(lambda x: 1.0 * x, swapped, np.array([1.0, 2.0]))
    picture = "numerical  1 0   backward  0 1   the sums of the columns agree\n           0 1             1 0"
    why = "the errors cancel in a sum over the outputs, but no entry is right"
    equal(
        answer,
        False,
        why,
        what="gradcheck of the identity, with a backward that swaps the gradients",
        picture=picture,
    )


@points(1, "a backward that answers differently fails")
def test_asks_twice(yours):
    calls = []

    def unsteady(x, grad):
        calls.append(1)
        return grad * (1 + 1e-9 * len(calls))

    answer = yours.gradcheck(lambda x: 1.0 * x, unsteady, np.array([1.0]))
    why = "asked twice it answers differently, although each answer is near enough"
    equal(answer, False, why, what="gradcheck with a backward that drifts by 1e-9")
    calls.clear()

    def unsteady_at_last(x, grad):
        calls.append(1)
        return grad * (1 + 1e-9 * len(calls)) if grad[-1] else grad

    answer = yours.gradcheck(lambda x: 1.0 * x, unsteady_at_last, np.array([1.0, 2.0, 3.0]))
    equal(answer, False, "every row is asked for twice, the last one too",
          what="gradcheck with a backward whose last row drifts")


@points(1, "atol and rtol are those that were asked for")
def test_tolerances(yours):
    x = np.array([1.0, 2.0])
    off = lambda x, grad: grad * 1.1  # noqa: E731
    answer = yours.gradcheck(lambda x: 1.0 * x, off, x, rtol=0.2)
    equal(answer, True, "a tenth off is within rtol=0.2", what="gradcheck of the identity with 1.1, rtol=0.2")
    answer = yours.gradcheck(lambda x: 1.0 * x, off, x, atol=0.2, rtol=0.0)
    equal(answer, True, "0.1 off is within atol=0.2", what="gradcheck of the identity with 1.1, atol=0.2, rtol=0")
    answer = yours.gradcheck(lambda x: 0.0 * x, lambda x, grad: grad * 0.0, x, atol=0.0, rtol=0.0)
    equal(answer, True, "|0 - 0| <= 0", what="gradcheck of 0 * x with a backward of 0, atol=0, rtol=0")
    answer = yours.gradcheck(lambda x: 0.0 * x, lambda x, grad: grad * 1e-3, x, rtol=2.0)
    why = "rtol is a part of the numerical value, which is 0: only atol=1e-5 is left"
    equal(answer, False, why, what="gradcheck of 0 * x with a backward of 1e-3, rtol=2")


@points(1, "any matrix, and one wrong entry in it")
def test_any(yours, rng):
    numbers = np.random.default_rng(rng.randrange(2**32))
    matrix = numbers.integers(1, 5, (rng.randint(1, 4), rng.randint(1, 4))).astype(float)
    x = numbers.random(matrix.shape[1])
    answer = yours.gradcheck(matrix_function(matrix), lambda x, grad: grad @ matrix, x)
    equal(answer, True, "f(x) = A x, and the backward is grad A", what=f"gradcheck for A = {matrix.tolist()}")
    wrong = matrix.copy()
    wrong[rng.randrange(matrix.shape[0]), rng.randrange(matrix.shape[1])] += 0.1
    answer = yours.gradcheck(matrix_function(matrix), lambda x, grad: grad @ wrong, x)
    equal(
        answer, False, "one entry of the backward is off by 0.1", what=f"gradcheck for A = {matrix.tolist()}"
    )
