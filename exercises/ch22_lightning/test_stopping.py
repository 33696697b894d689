"""Grades stopping.py."""

import math

from exercises.grading import equal, points


def stops_at(yours, scores, epochs=None, **options):
    """After how many checks it stops; None if it does not."""
    stopping = yours.EarlyStopping(**options)
    for number, score in enumerate(scores):
        if stopping.check(score, number if epochs is None else epochs[number]):
            return number + 1
    return None


@points(1, "patience runs out")
def test_patience(yours):
    why = "1.0 is the best; the next two bring nothing better, and patience is 2"
    equal(stops_at(yours, [2.0, 1.0, 3.0, 2.0, 0.0], patience=2), 4, why, what="the check at which it stops")
    equal(
        stops_at(yours, [3.0, 2.0, 1.0], patience=1),
        None,
        "always better",
        what="the check at which it stops",
    )


@points(1, "an improvement starts the count again, and max means larger")
def test_again(yours):
    scores = [2.0, 3.0, 1.0, 4.0, 4.0]
    equal(
        stops_at(yours, [5.0, 6.0, 4.0, 5.0, 3.0, 4.0], patience=2),
        None,
        "never two in a row without a better one",
        what="the check at which it stops",
    )
    equal(
        stops_at(yours, scores, patience=1, mode="max"),
        3,
        "1.0 after 3.0",
        what="the check at which it stops",
    )


@points(2, "patience counts checks, not epochs")
def test_checks(yours):
    scores, epochs = [1.0, 2.0, 2.0, 2.0, 2.0], [0, 0, 0, 0, 1]
    why = "four validations in each epoch: patience=3 counts checks, and is over inside the first epoch"
    equal(stops_at(yours, scores, epochs, patience=3), 4, why, what="the check at which it stops")


@points(1, "equal is not better")
def test_equal(yours):
    why = "the same score again: equal is not better"
    equal(stops_at(yours, [1.0, 1.0, 1.0], patience=2), 3, why, what="the check at which it stops")
    why = "0.9 is better than 1.0 by 0.1, and min_delta asks for more than 0.5"
    equal(stops_at(yours, [1.0, 0.9], patience=1, min_delta=0.5), 2, why, what="the check at which it stops")
    why = "better by 0.5, and min_delta asks for more than 0.5"
    equal(stops_at(yours, [1.0, 0.5], patience=1, min_delta=0.5), 2, why, what="the check at which it stops")
    equal(stops_at(yours, [1.0, 1.5], patience=1, min_delta=0.5, mode="max"), 2, why, what="the check at which it stops")


@points(1, "NaN and infinity stop at once")
def test_nan(yours):
    for bad in (math.nan, math.inf):
        why = f"{bad} is no score: stop at once, whatever the patience"
        equal(stops_at(yours, [1.0, bad, 0.5], patience=5), 2, why, what="the check at which it stops")


@points(2, "the k best are kept")
def test_top_k(yours):
    for mode, scores, gone in (("min", [3.0, 1.0, 2.0], "a"), ("max", [1.0, 3.0, 2.0], "a")):
        top = yours.TopK(2, mode)
        got = [top.offer(name, score) for name, score in zip("abc", scores)]
        why = f"there is room for two; of {scores} in mode {mode!r} the worst of them goes"
        equal(got, [None, None, gone], why, what="what offer returned")
        equal(sorted(top.kept), ["b", "c"], why, what="the names kept")
        equal(top.best(), "b", "the best of those kept")


@points(1, "what is no better is not kept")
def test_top_k_refuses(yours):
    top = yours.TopK(1)
    equal(
        [top.offer("a", 1.0), top.offer("b", 2.0), top.offer("c", 1.0)],
        [None, "b", "c"],
        "2.0 is worse, and an equal one is no better: their own files go",
        what="what offer returned",
    )


@points(1, "NaN is worse than everything")
def test_top_k_nan(yours):
    top = yours.TopK(1)
    got = [top.offer("a", math.nan), top.offer("b", 9.0), top.offer("c", math.nan)]
    equal(
        got, [None, "a", "c"], "NaN is worse than everything else, in every mode", what="what offer returned"
    )
