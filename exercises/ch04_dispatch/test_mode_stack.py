"""Grades mode_stack.py."""

from exercises.grading import equal, points, raises


def log_of(yours, log, name):
    """A mode that notes the calls and goes on below."""
    class Log(yours.Mode):
        def handle(self, run, op, *args):
            log.append(f"{name} {op}")
            return run(op, *args)
    return Log()


def twice(yours, depth=None):
    """A mode that computes add as two adds, by calling what it handles."""
    class Twice(yours.Mode):
        calls = 0

        def handle(self, run, op, *args):
            Twice.calls += 1
            if Twice.calls > 20:
                raise AssertionError("the mode sees the calls of its own handler, without end")
            return run(op, run(op, *args), 100)
    return Twice()


@points(1, "without modes the operator runs")
def test_none(yours):
    equal(yours.run("add", 1, 2), 3, "no mode is on")


@points(1, "a mode sees the calls of its block")
def test_block(yours):
    log = []
    with log_of(yours, log, "A"):
        equal(yours.run("mul", 2, 3), 6, "the mode goes on below")
    yours.run("neg", 1)
    equal(log, ["A mul"], "neg ran after the block")


@points(2, "the innermost first")
def test_innermost(yours):
    log = []
    with log_of(yours, log, "outer"), log_of(yours, log, "inner"):
        yours.run("neg", 1)
    equal(log, ["inner neg", "outer neg"], "the block entered last is the innermost: it is asked first")


@points(2, "a mode does not see its own calls")
def test_not_itself(yours):
    with twice(yours):
        equal(yours.run("add", 1, 2), 103, "1 + 2, and 100 more; both adds are computed, not handled again")


@points(1, "but those around it do")
def test_around(yours):
    log = []
    with log_of(yours, log, "outer"), twice(yours):
        yours.run("add", 1, 2)
    equal(log, ["outer add", "outer add"], "the two adds of the inner mode's handler")


@points(1, "the mode is on again for the next call")
def test_again(yours):
    log = []
    with log_of(yours, log, "A"):
        yours.run("neg", 1), yours.run("neg", 2)
    equal(log, ["A neg", "A neg"], "off while its handler runs, on again after it")


@points(2, "also after an error")
def test_error(yours):
    log, mode = [], log_of(yours, [], "A")
    with log_of(yours, log, "outer"), mode:
        raises(ZeroDivisionError, yours.run, "fail", why="the operator's error is the caller's")
        equal(len(yours.STACK), 2, "a handler that ended with an error leaves the modes as they were")
        yours.run("neg", 1)
    equal(log, ["outer fail", "outer neg"], "the modes still see the next call")
    equal(len(yours.STACK), 0, "and nothing is left after the blocks")
