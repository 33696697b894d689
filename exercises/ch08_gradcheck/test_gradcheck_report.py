"""Grades gradcheck_report.py."""

import numpy as np

from exercises.grading import equal, points


def matrix(*rows):
    """A float matrix."""
    return np.array(rows, dtype=float)


@points(1, "near enough agrees")
def test_agree(yours):
    got = yours.agree(matrix([1.0, 2.0], [3.0, 4.1]), matrix([1.0, 2.000001], [3.0, 4.0]))
    equal(got, np.array([[True, True], [True, False]]), "4.1 is too far from 4")
    got = yours.agree(matrix([1.0, 1.5]), matrix([1.0, 1.0]), atol=0.5, rtol=0.0)
    equal(got, np.array([[True, True]]), "|1.5 - 1| <= 0.5: exactly as far as is allowed")


@points(1, "too small is as wrong as too large")
def test_sign(yours):
    got = yours.agree(matrix([0.5, 1.5]), matrix([1.0, 1.0]))
    equal(got, np.array([[False, False]]), "the distance counts, whatever its sign")


@points(1, "rtol is a part of the numerical value")
def test_relative(yours):
    got = yours.agree(matrix([100.0]), matrix([0.0]), atol=0.0, rtol=2.0)
    why = "the numerical value is the measure: 2 times 0 is 0, and 100 is further away than that"
    equal(got, np.array([[False]]), why)
    got = yours.agree(matrix([1000.5, -1000.5]), matrix([1000.0, -1000.0]))
    equal(got, np.array([[True, True]]), "0.5 of 1000 is less than a thousandth, for negative values too")


@points(1, "nan agrees with nothing")
def test_nan(yours):
    nan = float("nan")
    why = "a comparison with nan is false: turned round, |a - n| > tolerance would let it pass"
    equal(yours.agree(matrix([nan, 1.0]), matrix([1.0, nan])), np.array([[False, False]]), why)
    place = yours.worst(matrix([1.0, nan], [9.0, 1.0]), matrix([1.0, 1.0], [1.0, 1.0]))
    equal(place, (0, 1, float("inf")), "nan is worse than any number")


@points(1, "where they disagree most")
def test_worst(yours):
    good = matrix([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    equal(yours.worst(good, good), None, "they agree")
    bad = matrix([1.0, 2.5, 3.0], [4.0, 5.0, 8.0])
    equal(
        yours.worst(bad, good), (1, 2, 2.0), "row 1 (of the output), column 2 (of the input): 8 instead of 6"
    )
    why = "only where they disagree: 0.9 of a million is near enough"
    equal(yours.worst(matrix([1e6 + 0.9, 0.5]), matrix([1e6, 0.0])), (0, 1, 0.5), why)
    tie = matrix([0.0, 2.0], [2.0, 0.0])
    equal(yours.worst(tie, tie * 0), (0, 1, 2.0), "two elements are off by 2: the first one counts, row by row")


@points(1, "which input")
def test_report(yours):
    good, bad = matrix([1.0, 2.0]), matrix([1.0, 2.25])
    found = yours.report([good, bad, good, bad], [good] * 4)
    equal(found, [(1, 0, 1, 0.25), (3, 0, 1, 0.25)], "inputs 1 and 3 have a wrong element")
    equal(yours.report([good], [good]), [], "all agree")
    equal(yours.report([bad], [good], atol=0.3), [], "within atol=0.3, the one that was asked for")
    equal(yours.report([bad], [good], rtol=0.2), [], "within rtol=0.2, the one that was asked for")


@points(1, "inputs without elements")
def test_empty(yours):
    empty = np.zeros((2, 0))
    equal(yours.report([empty], [empty]), [], "there is no element that could be wrong")


@points(1, "any matrices")
def test_any(yours, rng):
    for _ in range(20):
        shape = rng.randint(1, 4), rng.randint(1, 4)
        numbers = np.random.default_rng(rng.randrange(10**6))
        numerical = numbers.standard_normal(shape)
        row, column = rng.randrange(shape[0]), rng.randrange(shape[1])
        analytical = numerical.copy()
        analytical[row, column] += 2.0
        difference = float(abs(analytical[row, column] - numerical[row, column]))
        equal(
            yours.report([analytical], [numerical]), [(0, row, column, difference)], "one element is off by 2"
        )
