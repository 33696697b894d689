"""Grades first_failure.py."""

import contextlib
import multiprocessing
import os
import signal
import sys
import time

from exercises.grading import Mismatch, equal, holds, points

BUSY = 4.0  # seconds that a busy process takes, if it is let


class Marks:
    """A pipe into which processes write a letter; read afterwards."""

    def __init__(self):
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)

    def write(self, letter):
        os.write(self.writer, letter.encode())

    def read(self):
        with contextlib.suppress(BlockingIOError):
            return os.read(self.reader, 100).decode()
        return ""


@contextlib.contextmanager
def marks():
    """Marks, and afterwards no process that is left, whatever the answer did."""
    found = Marks()
    try:
        yield found
    finally:
        for process in multiprocessing.active_children():
            process.kill()
            process.join()
        os.close(found.reader)
        os.close(found.writer)


def busy(found):
    """A function that takes long and then writes a b."""

    def function():
        time.sleep(BUSY)
        found.write("b")

    return function


def broken():
    """A function that raises."""
    raise ValueError("the ninth is missing")


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def failure(yours, functions, why):
    """The Failed that run_all raises."""
    try:
        yours.run_all(functions)
    except yours.Failed as error:
        return error
    raise Mismatch(f"run_all came back as if all had gone well\n{why}")


@points(1, "each function runs in a process of its own")
def test_processes(yours):
    with marks() as found:
        yours.run_all(
            [lambda: found.write("a" if os.getpid() != here else "x") for here in [os.getpid()] * 3]
        )
        equal(
            found.read(),
            "aaa",
            "an a for each of the three functions, from another process (x: from this one)",
        )


@points(1, "all run at the same time")
def test_at_the_same_time(yours):
    first, second = os.pipe(), os.pipe()

    def ping():
        os.write(first[1], b"1")
        os.read(second[0], 1)

    def pong():
        os.read(first[0], 1)
        os.write(second[1], b"2")

    begin = time.monotonic()
    with marks():
        yours.run_all([ping, pong, ping, pong])
    seconds = time.monotonic() - begin
    why = "each function waits for its neighbour, so they must run at the same time; yours were started one by one"
    holds(seconds < 0.9, f"{why} ({seconds:.1f} s)")
    for end in (*first, *second):
        os.close(end)


@points(1, "a failure is told with its traceback")
def test_traceback(yours):
    with marks():
        error = failure(yours, [lambda: None, broken], "the second function raised ValueError")
        equal(error.index, 1, "the second function raised", what="Failed.index")
        holds(
            "ValueError: the ninth is missing" in error.reason,
            "the reason holds the traceback: what was raised",
        )
        holds("in broken" in error.reason, "the reason holds the traceback: the function where it was raised")


@points(1, "a long traceback arrives, too")
def test_long_traceback(yours):
    def broken_at_length():
        raise ValueError("x" * 300_000)

    with marks():
        error = failure(yours, [lambda: None, broken_at_length], "the second function raised ValueError")
        why = "the message alone has 300 000 letters, more than a pipe holds: read before you wait for the process"
        holds(len(error.reason) > 300_000, why)


@points(1, "the first failure counts, not the first process")
def test_first_failure_counts(yours):
    with marks() as found:
        error = failure(yours, [busy(found), broken], "the second function raised ValueError")
        equal(
            found.read(),
            "",
            "process 0 wrote its b: you waited for it although it was still busy and 1 had failed",
        )
        equal(error.index, 1, "process 1 failed", what="Failed.index")


@points(1, "nothing is left running")
def test_nothing_is_left(yours):
    with marks() as found:
        failure(yours, [broken, busy(found), busy(found)], "the first function raised ValueError")
        left = len(multiprocessing.active_children())
        equal(
            left,
            0,
            "run_all has raised, and processes are still running: nobody will wait for them",
            what="processes",
        )


@points(1, "a process that is killed has failed")
def test_killed(yours):
    with marks():
        why = "process 1 was killed by a signal: it raised nothing, and its exitcode is -9"
        error = failure(yours, [lambda: None, killed], why)
        equal(error.index, 1, why, what="Failed.index")
        holds("-9" in str(error.reason), "there is no traceback; the reason says the exit code, -9")


@points(1, "a process that leaves with an exit code has failed")
def test_exit_code(yours):
    with marks():
        why = "the process left by sys.exit(3)"
        error = failure(yours, [lambda: sys.exit(3)], why)
        holds("3" in str(error.reason), f"{why}: the reason says so")
