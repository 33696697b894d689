"""Grades sparse_adam.py."""

import numpy as np

from exercises.grading import close, equal, points


def table(rows=3, columns=1):
    """A table of ones, and moments of zeros."""
    return np.ones((rows, columns)), np.zeros((rows, columns)), np.zeros((rows, columns))


def gradient(*pairs):
    """(rows, g) of (row, value) pairs, for one column."""
    rows, values = zip(*pairs)
    return np.array(rows), np.array(values, np.float64)[:, None]


@points(1, "added_up")
def test_added_up(yours):
    rows, g = yours.added_up(*gradient((2, 1.0), (0, 5.0), (2, 3.0)))
    equal(list(map(int, rows)), [0, 2], "each row once, ascending")
    close(g, np.array([[5.0], [4.0]]), "the gradients of row 2 are added", what="g")


@points(2, "the first step")
def test_first_step(yours):
    p, m, v = table()
    yours.sparse_adam_step(p, m, v, *gradient((1, 4.0)), 1, 0.1)
    close(m[1], np.array([0.4]), "m += (1 - beta1) * (g - m)", what="m[1]")
    why = "the moments begin at zero; the correction makes the first step as long as lr"
    close(p[1], np.array([0.9]), why, what="p[1] after a first step with lr=0.1", tolerance=1e-6)


@points(2, "other rows are not touched")
def test_untouched(yours):
    p, m, v = table()
    m[0], v[0] = 0.5, 0.5
    yours.sparse_adam_step(p, m, v, *gradient((1, 4.0)), 1, 0.1)
    why = "row 0 has no gradient: it stays as it is, although its momentum is not zero"
    close(p[0], np.array([1.0]), why, what="p[0]")


@points(2, "nor are their moments")
def test_moments(yours):
    p, m, v = table()
    m[0], v[0] = 0.5, 0.5
    yours.sparse_adam_step(p, m, v, *gradient((1, 4.0)), 1, 0.1)
    close(m[0], np.array([0.5]), "a row forgets nothing in a step that it did not see", what="m[0]")
    close(v[0], np.array([0.5]), "a row forgets nothing in a step that it did not see", what="v[0]")


@points(2, "a row that repeats")
def test_repeats(yours):
    p, m, v = table()
    yours.sparse_adam_step(p, m, v, *gradient((1, 3.0), (1, 1.0)), 1, 0.1)
    close(v[1], np.array([0.001 * 16]), "the square is that of their sum, 4: Adam is not linear", what="v[1]")


@points(1, "in place, several columns, further steps")
def test_random(yours, rng):
    p, m, v = table(5, 3)
    rng = np.random.default_rng(rng.randrange(2**32))
    held, dense = p, [np.ones((5, 3)), np.zeros((5, 3)), np.zeros((5, 3))]
    for step in range(1, 4):
        rows, g = rng.integers(0, 5, 4), rng.standard_normal((4, 3))
        yours.sparse_adam_step(p, m, v, rows, g, step, 0.1)
        for row in set(rows.tolist()):
            total = g[rows == row].sum(0)
            q, a, b = (each[row] for each in dense)
            a += 0.1 * (total - a)
            b += 0.001 * (total**2 - b)
            q -= 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step) * a / (np.sqrt(b) + 1e-8)
    close(held, dense[0], "the model holds this array", what="p after three steps")
