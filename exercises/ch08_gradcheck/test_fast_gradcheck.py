"""Grades fast_gradcheck.py."""

import numpy as np

from exercises.grading import close, equal, holds, points


class Linear:
    """f(x) = A x with a backward that may have another matrix; counts its runs."""

    def __init__(self, matrix, claimed=None):
        self.matrix = np.array(matrix, dtype=float)
        self.claimed = self.matrix if claimed is None else np.array(claimed, dtype=float)
        self.runs = {"f": 0, "backward": 0}

    def f(self, x):
        self.runs["f"] += 1
        return self.matrix @ x

    def backward(self, x, grad):
        self.runs["backward"] += 1
        return grad @ self.claimed


def check(yours, function, source=None):
    """fast_gradcheck of a linear function at a fixed place."""
    x = np.linspace(-1.0, 1.0, function.matrix.shape[1])
    return yours.fast_gradcheck(function.f, function.backward, x, source or np.random.default_rng(0))


def passes(yours, function):
    """Whether every one of five checks says yes: a single direction may miss a mistake."""
    source = np.random.default_rng(1)
    verdicts = [check(yours, function, source) for _ in range(5)]
    known = all(type(verdict) is bool for verdict in verdicts)
    holds(
        known,
        "the answer is a bool",
        what="fast_gradcheck(...)",
        got=str([type(each).__name__ for each in verdicts]),
    )
    return all(verdicts)


@points(1, "a direction has norm 1 and nothing negative")
def test_unit(yours, rng):
    for size in (1, 3, 1000):
        direction = yours.unit(size, np.random.default_rng(rng.randrange(10**6)))
        shape = direction.shape if type(direction) is np.ndarray else type(direction).__name__
        equal(shape, (size,), "a vector", what=f"the shape of unit({size}, rng)")
        why = "a step of eps along u must be as small as eps, however many inputs there are"
        close(float(np.linalg.norm(direction)), 1.0, why, what=f"the norm of unit({size}, rng)")
        holds(bool((direction >= 0).all()), "none is negative", what=f"unit({size}, rng) >= 0")


@points(1, "directions differ from call to call")
def test_random(yours):
    source = np.random.default_rng(0)
    first, second = yours.unit(4, source), yours.unit(4, source)
    why = "the same direction every time would miss the same mistakes every time"
    holds(not np.array_equal(first, second), why, what="two calls of unit", got="the same")


@points(1, "v J u by differences")
def test_forward(yours):
    x, u, v = np.array([1.0, 2.0]), np.array([0.6, 0.8]), np.array([0.0, 1.0, 0.0])
    matrix = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    number = yours.forward_number(lambda x: matrix @ x, x, u, v)
    close(number, 5.0, "row 1 of J times u: 3 * 0.6 + 4 * 0.8", what="forward_number", tolerance=1e-6)
    number = yours.forward_number(lambda x: x**3, x, u, np.array([1.0, 0.0]))
    close(number, 1.8, "3 x**2 at 1, times 0.6", what="forward_number of x**3", tolerance=1e-6)
    equal(x, np.array([1.0, 2.0]), "x stays what it was", what="x after forward_number")


@points(1, "v J u by the backward")
def test_backward(yours):
    function = Linear([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    x, u, v = np.array([1.0, 2.0]), np.array([0.6, 0.8]), np.array([0.0, 1.0, 0.0])
    number = yours.backward_number(function.backward, x, u, v)
    close(number, 5.0, "the backward gets v, the gradient of the outputs; what it gives is multiplied with u")
    square = Linear([[0.0, 1.0], [0.0, 0.0]])
    number = yours.backward_number(square.backward, x, np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    close(number, 1.0, "v picks output 0 and u input 1, not the other way round", what="J[0, 1]")


@points(1, "a right backward passes, a wrong one fails")
def test_verdict(yours):
    right = Linear([[1.0, 2.0], [3.0, 4.0]])
    equal(passes(yours, right), True, "it is right", what="whether a right backward passes five times")
    wrong = Linear([[1.0, 2.0], [3.0, 4.0]], claimed=[[1.0, 2.0], [3.0, 4.5]])
    equal(
        passes(yours, wrong),
        False,
        "J[1, 1] is off by 0.5",
        what="whether a wrong backward passes five times",
    )
    small = Linear([[1.0, 2.0], [3.0, 4.0]], claimed=[[1.0, 2.0], [3.0, 3.5]])
    equal(passes(yours, small), False, "too small is as wrong as too large",
          what="whether a backward that is too small passes")


@points(1, "errors that cancel are found")
def test_cancelling(yours):
    matrix = np.arange(12.0).reshape(3, 4)
    swapped = matrix[:, [1, 0, 2, 3]]
    why = (
        "columns 0 and 1 are swapped: along (1, 1, 1, 1) nobody sees that, along a random direction one does"
    )
    equal(
        passes(yours, Linear(matrix, swapped)), False, why, what="whether two mixed up inputs pass five times"
    )


@points(1, "three runs of f, one of the backward")
def test_runs(yours):
    function = Linear(np.ones((30, 40)))
    check(yours, function)
    few = function.runs["f"] <= 3 and function.runs["backward"] == 1
    why = "one for the number of outputs, two for the difference: that is what makes it fast"
    holds(few, why, what="the runs for 40 inputs and 30 outputs", got=str(function.runs))


@points(1, "the tolerance grows with the direction")
def test_tolerance(yours):
    size = 400
    matrix = np.full((size, size), 1e-9)
    claimed = matrix + 0.9e-5
    why = "each element is off by less than atol; many of them add up, so atol is scaled by sum(u) * sum(v)"
    equal(
        check(yours, Linear(matrix, claimed)),
        True,
        why,
        what="a Jacobian whose elements are all off by 0.9e-5",
    )
    claimed = matrix + 1.2e-5
    equal(check(yours, Linear(matrix, claimed)), False, "off by more than atol", what="all off by 1.2e-5")


@points(1, "a backward that gives NaN fails")
def test_nan(yours):
    why = "every comparison with NaN is False: ask whether they agree, not whether they differ"
    wrong = Linear([[1.0, 2.0], [3.0, 4.0]], claimed=[[1.0, np.nan], [3.0, 4.0]])
    equal(check(yours, wrong), False, why, what="fast_gradcheck of a backward with one NaN")


@points(1, "eps is the step that was asked for")
def test_eps(yours):
    x, one = np.array([1.0]), np.array([1.0])
    number = yours.forward_number(lambda x: x**3, x, one, one, eps=0.5)
    why = "(1.5**3 - 0.5**3) / (2 * 0.5)"
    close(number, 3.25, why, what="forward_number of x**3 at 1 with eps=0.5")
    verdict = yours.fast_gradcheck(
        lambda x: x**3, lambda x, grad: grad * 3.25, x, np.random.default_rng(0), eps=0.5
    )
    equal(verdict, True, why, what="fast_gradcheck of x**3 at 1 with eps=0.5, and a backward of 3.25")


@points(1, "any function")
def test_any(yours, rng):
    for _ in range(10):
        numbers = np.random.default_rng(rng.randrange(10**6))
        matrix = numbers.standard_normal((rng.randint(1, 5), rng.randint(1, 5)))
        equal(passes(yours, Linear(matrix)), True, "it is right", what="whether a right backward passes")
        wrong = matrix.copy()
        wrong[0, 0] += 1
        equal(
            passes(yours, Linear(matrix, wrong)),
            False,
            "J[0, 0] is off by 1",
            what="whether a wrong one passes",
        )
