"""Profilers of a run: how long each hook took (`SimpleProfiler`), or each operator (`OperatorProfiler`).

Both only listen: to the observer's topic "trainer", and by way of teachtorch.profiler to all others.
"""

import time

from ..core import observer
from .errors import MisconfigurationException


class SimpleProfiler:
    """Adds up the time spent in each hook and step.

    `summary()` is the table; the trainer prints it after a run.
    """

    def __init__(self):
        self.durations, self._open = {}, []
        self._began = self.total = 0.0

    def start(self):
        self._began = time.perf_counter()
        observer.subscribe(self._note, "trainer")

    def stop(self):
        observer.unsubscribe(self._note)
        self.total += time.perf_counter() - self._began

    def _note(self, topic, event):
        if event["phase"] == "start":
            self._open.append(time.perf_counter())
            return
        name = f"[{event['who']}]{event['hook']}"
        began = self._open.pop()
        if event["defined"]:
            self.durations.setdefault(name, []).append(time.perf_counter() - began)

    def summary(self):
        """A table: calls, seconds, part of the whole; the longest first. Hooks called inside others count in both."""
        lines = [f"{'Action':<60}{'Calls':>8}{'Mean (s)':>12}{'Total (s)':>12}{'%':>8}"]
        for name, taken in sorted(self.durations.items(), key=lambda item: -sum(item[1])):
            share = 100 * sum(taken) / self.total if self.total else 0.0
            lines.append(
                f"{name:<60}{len(taken):>8}{sum(taken) / len(taken):>12.6f}{sum(taken):>12.6f}{share:>8.2f}"
            )
        lines.append(f"{'Total':<80}{self.total:>12.6f}{100:>8.2f}")
        return "\n".join(lines)


class OperatorProfiler:
    """teachtorch.profiler around a run; `profile` is the profiler, options are its own."""

    def __init__(self, sort_by="cpu_time_total", row_limit=20, **options):
        self.sort_by, self.row_limit, self.options = sort_by, row_limit, options
        self.profile = None

    def start(self):
        from ..profiler import profile

        self.profile = profile(**self.options)
        self.profile.start()

    def stop(self):
        self.profile.stop()

    def summary(self):
        """The table of operators."""
        return self.profile.key_averages().table(sort_by=self.sort_by, row_limit=self.row_limit)


PyTorchProfiler = OperatorProfiler  # Lightning's name for it


def profiler_for(given):
    """The profiler of the trainer's argument: None, "simple", "pytorch", or a profiler."""
    named = {"simple": SimpleProfiler, "pytorch": OperatorProfiler}
    if not isinstance(given, str):
        return given
    if given not in named:
        raise MisconfigurationException(
            f"When passing string value for the `profiler` parameter of `Trainer`, it can only "
            f"be one of {list(named)}"
        )
    return named[given]()
