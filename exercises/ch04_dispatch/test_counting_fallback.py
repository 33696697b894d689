"""Grades counting_fallback.py."""

from exercises.grading import equal, points, raises


class Op:
    """An operator over a dispatcher of two keys: the fallback under test, and the function below it."""

    def __init__(self, name, function):
        self.name, self.function, self.fallback, self.depth = name, function, None, 0

    def __call__(self, *args, **kwargs):
        self.depth += 1
        if self.depth > 3:
            raise AssertionError("the fallback calls the operator from the top, where it meets itself again, without end")
        found = self.fallback(self, *args, **kwargs)
        self.depth -= 1
        return found

    def redispatch(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def operators(yours):
    counter = yours.Counter()
    add = Op("add", lambda a, b, *, alpha=1: a + alpha * b)
    top = Op("max.dim", lambda values, dim=0: (max(values), values.index(max(values))))
    bad = Op("mm", lambda a, b: 1 / 0)
    for op in (add, top, bad):
        op.fallback = counter.fallback
    return counter, add, top, bad


@points(1, "the call goes on below")
def test_goes_on(yours):
    _, add, _, _ = operators(yours)
    equal(add(2, 3), 5, "the result of the kernel below")


@points(2, "with its keyword arguments")
def test_keywords(yours):
    _, add, _, _ = operators(yours)
    equal(add(2, 3, alpha=10), 32, "alpha is a keyword-only argument: a boxed kernel passes on all there is")


@points(2, "all results come back")
def test_outputs(yours):
    _, _, top, _ = operators(yours)
    equal(top([1, 9, 4], dim=0), (9, 1), "max.dim returns two results")


@points(1, "calls are counted")
def test_counts(yours):
    counter, add, top, _ = operators(yours)
    add(1, 1), add(1, 2), top([1])
    equal(counter.report(), [("add", 2, 2), ("max.dim", 1, 2)], "add twice with one result each, max.dim once with two")


@points(1, "a call that fails has begun")
def test_failed(yours):
    counter, _, _, bad = operators(yours)
    raises(ZeroDivisionError, bad, 1, 2, why="the kernel's error is the caller's")
    equal(counter.report(), [("mm", 1, 0)], "one call that began, no result")


@points(1, "the order of the report")
def test_order(yours):
    counter, add, top, _ = operators(yours)
    top([1]), add(1, 1)
    equal([row[0] for row in counter.report()], ["add", "max.dim"], "equally often: by name")
    top([2])
    equal([row[0] for row in counter.report()], ["max.dim", "add"], "the most called first")


@points(1, "before the first call")
def test_empty(yours):
    equal(operators(yours)[0].report(), [], "nothing was called yet")


@points(1, "counters know nothing of each other")
def test_apart(yours):
    operators(yours)[1](1, 1)
    equal(operators(yours)[0].report(), [], "a new Counter has seen nothing")
