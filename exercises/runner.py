"""The parent: starts a child, listens to it, stops it when a test takes too long, and goes on with another.

A test that hangs, crashes or ends the process is reported as such; the child is started again for the tests after it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from exercises import catalog, manifest
from exercises.child_process import IMPORT, Child, Stopped
from exercises.results import Job, Limits, Outcome, Result

MOST_STOPS = 2
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
MESSAGES = {
    "timeout": "stopped after {seconds:g} s: your code was still running",
    "output": "stopped: your code printed more than {megabytes:g} MB",
    "crashed": "your code ended the Python process ({how})",
}
NOT_RUN = f"not run, because {MOST_STOPS} properties before it had to be stopped"


def grade(
    jobs: list[Job],
    limits: Limits = Limits(),
    tell: Callable[[Result], None] | None = None,
    progress: Callable[[catalog.Exercise, str], None] | None = None,
) -> list[Result]:
    """Grade the files, one result each, in order.

    jobs: what to grade. limits: what one test may use. tell: called with each result as it is ready.
    progress: called with the exercise and the property whose test begins.
    """
    if importlib.util.find_spec("pytest") is None:
        raise GraderError("exercises are graded by pytest: install it with `pip install pytest`")
    return Grader(jobs, limits, tell or _ignore, progress or _ignore).run()


class Grader:
    """Keeps the results of all jobs while children come and go."""

    def __init__(self, jobs: list[Job], limits: Limits, tell: Callable, progress: Callable) -> None:
        self.jobs, self.limits, self.tell, self.progress = jobs, limits, tell, progress
        self.results = [_blank(job) for job in jobs]
        self.open = [number for number, result in enumerate(self.results) if not result.problem]
        self.done: dict[int, list[str]] = {number: [] for number in self.open}
        self.snapshots: dict[int, Path] = {}

    def run(self) -> list[Result]:
        """Start children until every job is graded."""
        for number, result in enumerate(self.results):
            if number not in self.open:
                self.tell(result)
        with tempfile.TemporaryDirectory(prefix="exercises-") as folder:
            Path(folder, "pytest.ini").write_text("[pytest]\n")
            self._take_snapshots(Path(folder))
            while self.open:
                self._one_child(folder)
        return self.results

    def _take_snapshots(self, folder: Path) -> None:
        """Copy the files: whoever saves while the tests run is graded for what there was at the beginning."""
        for number in self.open:
            self.snapshots[number] = folder / f"answer_{number}.txt"
            shutil.copyfile(self.jobs[number].file, self.snapshots[number])

    def _one_child(self, folder: str) -> None:
        requests = [self._request(number) for number in self.open]
        child, printed = None, {}
        try:
            with _uninterrupted():
                child = Child(requests, self.limits, folder)
            self._listen(child)
        finally:
            printed = child.stop() if child else {}
        for (number, test), text in printed.items():
            self._printed(number, test, text)

    def _request(self, number: int) -> dict:
        return self.jobs[number].request(number, self.done[number], self.snapshots[number])

    def _listen(self, child: Child) -> None:
        try:
            for event in child.events():
                self._take(event)
        except Stopped as stopped:
            self._stopped(stopped, child)

    def _take(self, event: dict) -> None:
        if event["event"] == "start":
            self.progress(self.jobs[event["job"]].exercise, self._title(event))
        elif event["event"] == "end":
            self._ended(event["job"], event["test"], event["kind"], event["message"], event["seconds"])
        elif event["event"] == "finished":
            self.results[event["job"]].note = event.get("note", "")
            self._finished(event["job"])

    def _title(self, event: dict) -> str:
        outcomes = self.results[event["job"]].outcomes
        titles = [each.property.title for each in outcomes if each.property.name == event["test"]]
        return titles[0] if titles else "importing"

    def _ended(self, number: int, test: str, kind: str, message: str, seconds: float = 0.0) -> None:
        result = self.results[number]
        result.seconds += seconds
        if test == IMPORT and kind != "passed":
            result.problem, result.message = kind, message
        for outcome in result.outcomes:
            if outcome.property.name == test:
                outcome.kind, outcome.message, outcome.seconds = kind, message, seconds
                self.done[number].append(test)

    def _stopped(self, stopped: Stopped, child: Child) -> None:
        """The child ended before it said so: charge the test that was running, and go on with the next."""
        if not child.ready:
            raise GraderError(f"the grader could not start:\n{child.failure()}")
        if child.steps and child.steps[-1][0] not in self.open:
            return  # the last job was done: what came after its end is no answer to the next one
        number, test = child.current or (self.open[0], IMPORT)
        message = self._message(stopped) + child.where(self.jobs[number].file, self.snapshots[number])
        self._ended(number, test, stopped.kind, message, stopped.seconds)
        if self._hangs(number):
            self._give_up(number)
        if test == IMPORT or len(self.done[number]) == len(self.results[number].outcomes):
            self._finished(number)

    def _hangs(self, number: int) -> bool:
        """Whether so many tests of an exercise had to be stopped that the others are not worth waiting for."""
        stopped = [each for each in self.results[number].outcomes if each.kind in ("timeout", "output")]
        return len(stopped) >= MOST_STOPS

    def _give_up(self, number: int) -> None:
        for outcome in self.results[number].outcomes:
            if outcome.property.name not in self.done[number]:
                outcome.message = NOT_RUN
                self.done[number].append(outcome.property.name)

    def _message(self, stopped: Stopped) -> str:
        megabytes = self.limits.output_bytes / 2**20
        return MESSAGES[stopped.kind].format(how=stopped.how, seconds=stopped.seconds, megabytes=megabytes)

    def _finished(self, number: int) -> None:
        if number not in self.open:
            return
        self.open.remove(number)
        result = self.results[number]
        missing = [each for each in result.outcomes if each.property.name not in self.done[number]]
        if missing and not result.problem:
            result.problem, result.message = "crashed", "your code ended the tests before they were done"
        self.tell(result)

    def _printed(self, number: int, test: str, text: str) -> None:
        result = self.results[number]
        if test == IMPORT:
            result.printed = text
        for outcome in result.outcomes:
            if outcome.property.name == test:
                outcome.printed = text


class GraderError(Exception):
    """The grader itself failed: nothing can be said about the learner's file."""


def _ignore(*told) -> None:
    """Nobody listens."""


def _blank(job: Job) -> Result:
    result = Result(job.exercise, job.file, job.seed, [Outcome(each) for each in job.exercise.properties])
    if not job.file.is_file():
        result.problem, result.message = "no file", f"there is no file {job.file}"
    elif not manifest.is_genuine(job.exercise.test):
        result.problem = "tampered"
        result.message = f"{job.exercise.test.name} is not the one that was shipped: put it back to be graded"
    return result


@contextlib.contextmanager
def _uninterrupted():
    """Hold Ctrl-C back while a process is started: otherwise it could be started and forgotten."""
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
