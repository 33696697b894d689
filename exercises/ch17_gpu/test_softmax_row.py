"""Grades softmax_row.py."""

import numpy as np

from exercises.grading import close, holds, points
from exercises.grading.gpu import launch


def check(yours, x, why, order="up", is_strict=True):
    x = np.asarray(x, np.float32)
    out = np.full(x.shape, np.float32(np.nan))
    log = launch(yours.softmax, x.shape[0], yours.THREADS, out, x, order=order, is_strict=is_strict)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected = (powers / powers.sum(1, keepdims=True)).astype(np.float32)
    close(out, expected, why, what=f"softmax of a {x.shape[0]} x {x.shape[1]} matrix", tolerance=1e-5)
    return log


def matrix(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


@points(1, "a row of one element")
def test_one_element(yours):
    check(yours, [[3.0]], "the softmax of one element is 1", is_strict=False)


WHOLE_ROW = "all threads take away the maximum of the whole row, and divide by the sum of the row"


@points(1, "as many elements as threads")
def test_rows_sum_to_one(yours):
    check(yours, matrix(2, 4), WHOLE_ROW)


@points(1, "rows longer than the block")
def test_long_rows(yours):
    check(yours, matrix(2, 11), "each thread walks on by the block's size; NaN: nobody wrote the element")


@points(1, "the threads share the row")
def test_threads_share_the_row(yours):
    log = check(yours, matrix(1, 12), "three elements for each of four threads")
    reads, writes = [[sum(each[0] == name and each[2].x == t for each in part) for t in range(4)]
                     for name, part in (("x", log.reads), ("out", log))]  # fmt: skip
    holds(writes == [3] * 4, "four threads, twelve elements: three are each one's to write", got=f"writes: {writes}")
    holds(max(reads) <= 12, "a thread walks over its three elements, three times at most", got=f"reads: {reads}")


@points(1, "large elements")
def test_large_elements(yours):
    check(yours, matrix(1, 4) + 1000, "take the maximum away first: exp(1000) is infinite")


@points(1, "minus infinity has no share")
def test_masked(yours):
    check(yours, [[0.5, -np.inf, 1.5, -np.inf]], "exp(-inf) is 0: a masked element")


@points(1, "whichever thread runs first")
def test_whichever_thread_runs_first(yours):
    for order in ("up", "down", np.random.default_rng(0)):
        check(yours, matrix(1, 6), "threads run in any order", order)
