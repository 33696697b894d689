"""Grades self_time.py."""

from exercises.grading import equal, points


class Clock:
    """Goes on by what the test says."""

    def __init__(self):
        self.time = 0

    def __call__(self):
        return self.time


def event(name, start, end, parent=None):
    return {"name": name, "start": start, "end": end, "parent": parent}


EXAMPLE = [event("forward", 0, 10), event("linear", 1, 7, 0), event("mm", 2, 6, 1), event("relu", 8, 10, 0)]


@points(1, "a block is an event with its times")
def test_one_block(yours):
    clock = Clock()
    recorder = yours.Recorder(clock)
    clock.time = 3
    with recorder.block("mm"):
        clock.time = 5
    equal(recorder.events, [event("mm", 3, 5)], "it began at 3 and ended at 5", what="recorder.events")


@points(1, "blocks know the block around them")
def test_parents(yours):
    recorder = yours.Recorder(Clock())
    with recorder.block("a"):
        with recorder.block("b"), recorder.block("c"):
            pass
        with recorder.block("d"):
            pass
    parents = [each["parent"] for each in recorder.events]
    equal(parents, [None, 0, 1, 0], "b and d lie directly in a, c in b", what="the parents of a, b, c, d")


@points(1, "an exception ends the blocks that it leaves")
def test_exception(yours):
    clock = Clock()
    recorder = yours.Recorder(clock)
    try:
        with recorder.block("fails"):
            clock.time = 4
            raise ValueError("a wrong shape")
    except ValueError:
        pass
    with recorder.block("after"):
        pass
    expected = [event("fails", 0, 4), event("after", 4, 4)]
    why = "the block was left by an exception at 4: it ends then, and what comes after is not within it"
    equal(recorder.events, expected, why, what="recorder.events")


@points(1, "self time is total time without the children")
def test_self(yours):
    equal(yours.self_times(EXAMPLE), [2, 2, 4, 2], "forward 10 - 6 - 2, linear 6 - 4: the blocks directly within")


@points(1, "self times add up to the outermost total")
def test_sum(yours, rng):
    events = [event("root", 0, 1000)]
    start = 0
    for _ in range(rng.randint(3, 8)):
        start += rng.randint(1, 9)
        events.append(event("child", start, start + 40, 0))
        events.append(event("grandchild", start + 5, start + 5 + rng.randint(1, 30), len(events) - 1))
        start += 40
    equal(sum(yours.self_times(events)), 1000, "each moment belongs to one block: the innermost", what="their sum")


@points(1, "averages count calls and add up self times")
def test_averages(yours):
    events = [*EXAMPLE, event("mm", 20, 23)]
    row = yours.key_averages(events)["mm"]
    equal((row["count"], row["self"]), (2, 7), "mm ran for 4 and for 3", what="count and self of mm")


@points(1, "the mean is the sum of all calls over their number")
def test_mean(yours):
    events = [event("mm", 0, 1), event("mm", 1, 2), event("mm", 2, 12)]
    equal(yours.key_averages(events)["mm"]["mean"], 4.0, "(1 + 1 + 10) / 3", what="mean of mm")
