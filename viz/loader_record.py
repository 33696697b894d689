"""Running a DataLoader and writing down when each batch was dealt, fetched and given."""

import time
import warnings
from dataclasses import dataclass, field
from functools import partial

from viz.engines import observer_of
from viz.loader_twin import twin


@dataclass
class Batch:
    """One batch; times in seconds of one clock, or None where nothing tells them.

    worker: the number of the process that fetched it, None for this process. dealt: its indices were handed
    out. began, ended: fetching. asked: the loop wanted it. given: it got it. done: it was through with it.
    """

    task: int
    worker: int | None = None
    dealt: float | None = None
    began: float | None = None
    ended: float | None = None
    asked: float | None = None
    given: float | None = None
    done: float | None = None

    @property
    def was_waited_for(self):
        """Whether it was still being fetched when the loop asked for it."""
        return self.ended is not None and self.ended > self.asked


@dataclass
class Run:
    """batches: in the order they were given. start, ready: before and after the iterator was made.

    unseen: sentences on what could not be seen. is_cut: whether the epoch had more batches.
    """

    start: float
    ready: float = 0.0
    batches: list = field(default_factory=list)
    unseen: list = field(default_factory=list)
    is_cut: bool = False


def record(loader, library, step, limit):
    """A ``Run`` of at most ``limit`` batches; ``step``, if given, is called with each."""
    if not loader.num_workers:
        return _run_here(loader, step, limit)
    observer = observer_of(library)
    return (
        _run_observed(loader, observer, step, limit) if observer else _run_twin(loader, library, step, limit)
    )


def _loop(iterator, step, limit, identify):
    """Take batches as a training loop does. ``identify(value, asked)``: (``Batch``, what the loop sees)."""
    batches = []
    while len(batches) < limit:
        asked = time.monotonic()
        try:
            value = next(iterator)
        except StopIteration:
            return batches, False
        given = time.monotonic()
        batch, value = identify(value, asked)
        batch.asked, batch.given = asked, given
        if step is not None:
            step(value)
        batch.done = time.monotonic()
        batches.append(batch)
    return batches, True


def _finish(run, iterator, step, limit, identify):
    run.ready = time.monotonic()
    run.batches, stopped = _loop(iterator, step, limit, identify)
    run.is_cut = stopped
    return run


# No workers: all in this process


def _run_here(loader, step, limit):
    run, numbers = Run(time.monotonic()), iter(range(10**9))

    def identify(value, asked):
        task = next(numbers)
        return Batch(task, dealt=asked, began=asked, ended=time.monotonic()), value

    return _finish(run, iter(loader), step, limit, identify)


# teachtorch: the observer tells


def _run_observed(loader, observer, step, limit):
    told, given = {}, []
    run = Run(time.monotonic())
    with observer.watching(partial(_note, told, given), "loader"):
        return _finish(run, iter(loader), step, limit, lambda value, asked: (told[given[-1]], value))


def _note(told, given, topic, event):
    """An event of the observer. Another loader that runs meanwhile would mix in: run one at a time."""
    batch = told.setdefault(event["task"], Batch(event["task"], event["worker"]))
    if event["phase"] == "dealt":
        batch.dealt = event["time"]
    elif event["phase"] == "arrived":
        batch.began, batch.ended = event["began"], event["ended"]
    else:
        given.append(event["task"])


# PyTorch: a loader with the same arguments, whose parts report


def _run_twin(loader, library, step, limit):
    run, dealt = Run(time.monotonic()), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the loader itself has warned when it was made
        double, run.unseen = twin(loader, library, dealt)
        iterator = iter(double)
    counted = iter(range(10**9))

    def identify(report, asked):
        task = next(counted) if report.task is None else report.task
        batch = Batch(task, report.worker, dealt.get(task), report.began, report.ended)
        return batch, report.batch

    return _finish(run, iterator, step, limit, identify)
