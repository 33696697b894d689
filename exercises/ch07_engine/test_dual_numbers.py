"""Grades dual_numbers.py."""

import numpy as np

from exercises.grading import close, equal, holds, points, raises


def two(yours, level):
    """x = [2, 3] moving by [1, 10], y = [4, 5] moving by [100, 1000]."""
    x = level.make_dual(np.array([2.0, 3.0]), np.array([1.0, 10.0]))
    return x, level.make_dual(np.array([4.0, 5.0]), np.array([100.0, 1000.0]))


def check(level, dual, primal, tangent, why, what):
    """Compare both arrays of a dual."""
    mine, moving = level.unpack(dual)
    close(mine, np.array(primal), why, what=f"the primal of {what}")
    close(moving, np.array(tangent), why, what=f"the tangent of {what}")


@points(1, "sum and product")
def test_sum_and_product(yours):
    with yours.Level() as level:
        x, y = two(yours, level)
        check(level, x + y, [6.0, 8.0], [101.0, 1010.0], "both move", "x + y")
        check(level, x * y, [8.0, 15.0], [204.0, 3050.0], "x' y + x y': 1 * 4 + 2 * 100", "x * y")


@points(1, "quotient")
def test_quotient(yours):
    with yours.Level() as level:
        x, y = two(yours, level)
        expected = [(1 * 4 - 2 * 100) / 16, (10 * 5 - 3 * 1000) / 25]
        check(
            level, x / y, [0.5, 0.6], expected, "a growing y makes the quotient smaller: minus x y'", "x / y"
        )


@points(1, "power")
def test_power(yours):
    with yours.Level() as level:
        x, _ = two(yours, level)
        check(level, x**3, [8.0, 27.0], [12.0, 270.0], "3 x**2 x'", "x ** 3")
        check(level, x**-1, [0.5, 1 / 3], [-0.25, -10 / 9], "-1 x**-2 x'", "x ** -1")


@points(1, "matrix product")
def test_matmul(yours):
    with yours.Level() as level:
        a = level.make_dual(np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]]))
        b = level.make_dual(np.array([[3.0], [4.0]]), np.array([[5.0], [6.0]]))
        check(level, a @ b, [[11.0]], [[127.0]], "a' b + a b': 110 + 17; both factors move", "a @ b")


@points(1, "views share the arrays")
def test_views(yours):
    with yours.Level() as level:
        x, y = two(yours, level)
        check(level, x[1], 3.0, 10.0, "a part of both arrays", "x[1]")
        x[1:].mul_(y[1:])
        why = "x[1:] looks into both arrays of x: the change in place shows in both"
        check(level, x, [2.0, 15.0], [1.0, 3050.0], why, "x, after x[1:].mul_(y[1:])")


@points(1, "a change in place changes the tangent too")
def test_in_place(yours):
    with yours.Level() as level:
        x, y = two(yours, level)
        holds(x.mul_(y) is x, "in-place operations return their tensor", what="x.mul_(y) is x")
        why = "the tangent belongs to the old value: it must change with it, and by the old value of x"
        check(level, x, [8.0, 15.0], [204.0, 3050.0], why, "x, after x.mul_(y)")
        check(level, y, [4.0, 5.0], [100.0, 1000.0], "y stays", "y, after x.mul_(y)")


@points(1, "after the level the tangent is gone")
def test_level(yours):
    level = yours.Level()
    with level:
        x, _ = two(yours, level)
        check(level, x, [2.0, 3.0], [1.0, 10.0], "inside", "x")
    primal, tangent = level.unpack(x)
    equal(primal, np.array([2.0, 3.0]), "the value stays", what="the primal after the level")
    equal(
        tangent,
        None,
        "the level is closed: its tangents say nothing any more",
        what="the tangent after the level",
    )
    raises(RuntimeError, level.make_dual, np.ones(2), np.ones(2), why="the level is closed")


@points(1, "a level closes after an error too")
def test_error(yours):
    level = yours.Level()
    try:
        with level:
            x, _ = two(yours, level)
            raise KeyError("an error in the block")
    except KeyError:
        pass
    equal(level.unpack(x)[1], None, "with closes the level in any case", what="the tangent after an error")
    with level:
        raises(RuntimeError, level.make_dual, np.ones(2), np.ones(3), why="the shapes differ")


@points(1, "any formula, against differences")
def test_any(yours, rng):
    numbers = np.random.default_rng(rng.randrange(10**6))
    x, y, step_x, step_y = (numbers.uniform(1.0, 2.0, (3, 3)) for _ in range(4))

    def formula(x, y):
        return (x @ y / (x + y) ** 2 * x)[1:, 0]

    with yours.Level() as level:
        duals = level.make_dual(x, step_x), level.make_dual(y, step_y)
        _, tangent = level.unpack(formula(*duals))
    eps = 1e-6
    moved = formula(x + eps * step_x, y + eps * step_y) - formula(x - eps * step_x, y - eps * step_y)
    close(
        tangent,
        moved / (2 * eps),
        "the tangent is the derivative",
        what="(x @ y / (x + y)**2 * x)[1:, 0]",
        tolerance=1e-6,
    )
