"""The parent: starts the child, listens to it, stops it when a test takes too long, and goes on.

A test that hangs, crashes or ends the process is reported as such; the child is started again for the tests
after it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from exercises import catalog, manifest
from exercises.events import Reader

IMPORT = "<import>"
LINGER_SECONDS = 1.0
IMPORT_FACTOR = 4
MOST_STOPS = 2
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
START = "import sys; sys.path.append(sys.argv[1]); from exercises.grading.child import main; main()"
MESSAGES = {
    "timeout": "stopped after {seconds:g} s: your code was still running",
    "output": "stopped: your code printed more than {megabytes:g} MB",
    "crashed": "your code ended the Python process ({how})",
}
NOT_RUN = f"not run, because {MOST_STOPS} properties before it had to be stopped"


@dataclass(frozen=True)
class Limits:
    """What one test may use: wall time, printed bytes, bytes of memory. start_seconds: to start pytest."""

    seconds: float = 5.0
    output_bytes: int = 1 << 20
    memory_bytes: int = 1 << 30
    start_seconds: float = 120.0


@dataclass
class Outcome:
    """How one property went. kind: passed, wrong, todo, raised, missing, timeout, crashed, ..."""

    property: catalog.Property
    kind: str = "not run"
    message: str = "not run"
    seconds: float = 0.0
    printed: str = ""

    @property
    def passed(self) -> bool:
        """Whether the property holds."""
        return self.kind == "passed"

    @property
    def score(self) -> int:
        """The points earned."""
        return self.property.points if self.passed else 0


@dataclass
class Result:
    """How one learner's file did in one exercise."""

    exercise: catalog.Exercise
    file: Path
    seed: int
    outcomes: list[Outcome]
    problem: str = ""
    message: str = ""
    printed: str = ""
    note: str = ""  # about how it was graded
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every property holds and nothing else went wrong."""
        return not self.problem and all(each.passed for each in self.outcomes)

    @property
    def score(self) -> int:
        """The points earned."""
        return 0 if self.problem else sum(each.score for each in self.outcomes)


@dataclass
class Job:
    """One file to grade. guarded: whether the exercise's rules on imports apply."""

    exercise: catalog.Exercise
    file: Path
    seed: int = field(default_factory=lambda: secrets.randbelow(10**6))
    guarded: bool = True

    def request(self, number: int, done: list[str], snapshot: Path) -> dict:
        """What the child needs to know. snapshot: the copy of the file that is graded."""
        rules = {"imports": self.exercise.imports, "forbidden": list(self.exercise.forbidden.items())}
        names = {
            "id": number,
            "set": self.exercise.set,
            "test": str(self.exercise.test),
            "file": str(self.file),
            "snapshot": str(snapshot),
        }
        return {**names, "seed": self.seed, "done": done, "rules": rules if self.guarded else None}


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


class Stopped(Exception):
    """The child was stopped, or ended by itself before its last event."""

    def __init__(self, kind: str, how: str = "", seconds: float = 0.0) -> None:
        super().__init__(kind, how)
        self.kind, self.how, self.seconds = kind, how, seconds


class Child:
    """One child process, its events and what it prints."""

    def __init__(self, requests: list[dict], limits: Limits, folder: str) -> None:
        self.limits = limits
        self.stacks = Path(folder, "stacks.txt")
        self.current: tuple[int, str] | None = None
        self.steps: list[tuple[int, str]] = []
        self.ready = False
        self.ended = False
        self.left: float | None = None
        self.spare = 0.0
        marker = f"\0{secrets.token_hex(16)}\n"
        key = secrets.token_bytes(32)
        self.reader = Reader(key)
        self.process = _start(folder)
        self.output = Output(self.process.stderr, marker.encode())
        self.lines: queue.Queue = queue.Queue(1000)
        threading.Thread(target=self._read, daemon=True).start()
        places = {"folder": folder, "stacks": str(self.stacks), "parent": os.getpid()}
        self._send({"key": key.hex(), "marker": marker, **places, "jobs": requests})

    def events(self) -> Iterator[dict]:
        """The signed events; Stopped when a limit is reached or the process ends before the last one."""
        begin = time.monotonic()
        while True:
            event = self._next(begin)
            if event is None:
                continue
            begin = time.monotonic()
            self._follow(event)
            yield event
            if event["event"] == "bye":
                return

    def _follow(self, event: dict) -> None:
        self.ready = True
        self.current = None
        if event["event"] == "start":
            self.current, self.spare = (event["job"], event["test"]), event.get("spare", 0.0)
            self.steps.append(self.current)
            self.output.count = 0

    def stop(self) -> dict[tuple[int, str], str]:
        """End the process and whatever it started; what each step printed."""
        _kill(self.process)
        self.process.wait()
        self.output.thread.join(LINGER_SECONDS)
        self._drain()
        return dict(zip(self.steps, self.output.texts()))

    def failure(self) -> str:
        """What a child that did not get ready printed."""
        self.stop()
        return "".join(self.output.texts())

    def where(self, file: Path, snapshot: Path) -> str:
        """The line of the learner's file that was running, as the child wrote it down."""
        text = self.stacks.read_text(errors="replace") if self.stacks.exists() else ""
        found = re.search(rf'File "{re.escape(str(file))}", line (\d+)', text)
        if not found:
            return ""
        number = int(found[1])
        lines = snapshot.read_text(encoding="utf-8", errors="replace").splitlines()
        return f"\n  at line {number}: {lines[number - 1].strip() if number <= len(lines) else ''}"

    def _next(self, begin: float) -> dict | None:
        seconds = self._allowed()
        try:
            line = self.lines.get(timeout=0.05)
        except queue.Empty:
            self._check(begin, seconds)
            return None
        if line is None:
            raise Stopped("crashed", _how(self.process), time.monotonic() - begin)
        event = self.reader.read(line)
        if event is None:
            self._check(begin, seconds)
        return event

    def _allowed(self) -> float:
        """Seconds for what is going on: a test, an import (which may import NumPy or Numba), the start."""
        if self.current is None:
            return self.limits.start_seconds
        return self.limits.seconds * (IMPORT_FACTOR if self.current[1] == IMPORT else 1) + self.spare

    def _check(self, begin: float, seconds: float) -> None:
        if self.output.count > self.limits.output_bytes:
            raise Stopped("output", seconds=time.monotonic() - begin)
        if self._has_left():
            raise Stopped("crashed", _how(self.process), time.monotonic() - begin)
        if time.monotonic() - begin > seconds:
            raise Stopped("timeout", seconds=seconds)

    def _has_left(self) -> bool:
        """Whether the process ended a while ago, although something it started still holds the pipe."""
        if self.process.poll() is None:
            return False
        self.left = self.left or time.monotonic()
        return time.monotonic() - self.left > LINGER_SECONDS

    def _read(self) -> None:
        with self.process.stdout as stream:
            for line in iter(lambda: stream.readline(1 << 20), b""):
                self.lines.put(line)
        self.ended = True
        self.lines.put(None)

    def _drain(self) -> None:
        """Let the reading thread come to its end."""
        end = time.monotonic() + LINGER_SECONDS
        while not self.ended and time.monotonic() < end:
            with contextlib.suppress(queue.Empty):
                self.lines.get(timeout=0.05)

    def _send(self, request: dict) -> None:
        limits = {
            "seconds": self.limits.seconds,
            "import_factor": IMPORT_FACTOR,
            "memory_bytes": self.limits.memory_bytes,
        }
        try:
            self.process.stdin.write(json.dumps({**request, **limits}).encode() + b"\n")
            self.process.stdin.close()
        except OSError:
            return  # it ended at once: its missing events say so


class Output:
    """What the child prints, cut into steps at the marker; only the beginning of each step is kept."""

    KEPT = 4000

    def __init__(self, stream, marker: bytes) -> None:
        self.count = 0
        self._stream, self._marker = stream, marker
        self._parts = [b""]
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def texts(self) -> list[str]:
        """The text of each step so far."""
        return [part[: self.KEPT].decode("utf-8", "replace") for part in self._parts]

    def _read(self) -> None:
        with self._stream:
            self._cut(iter(lambda: self._stream.read1(1 << 16), b""))

    def _cut(self, chunks: Iterator[bytes]) -> None:
        rest = b""
        for chunk in chunks:
            self.count += len(chunk)
            *ended, rest = (rest + chunk).split(self._marker)
            for part in ended:
                self._keep(part)
                self._parts.append(b"")
            # A marker may be cut by the end of the chunk: its beginning waits for the next one.
            self._keep(rest[: -len(self._marker)])
            rest = rest[-len(self._marker) :]
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._parts[-1] += part[: self.KEPT]
        self._parts[-1] = self._parts[-1][: self.KEPT]


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


def _start(folder: str) -> subprocess.Popen:
    root = str(catalog.PACKAGE.parent)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    group = {"start_new_session": True} if os.name == "posix" else {}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", START, root], cwd=folder, env=_environment(), **pipes, **group
    )


def _environment() -> dict[str, str]:
    dropped = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONINSPECT")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {
        **kept,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONIOENCODING": "utf-8",
    }


def _kill(process: subprocess.Popen) -> None:
    """End the process, and on POSIX its whole group: a learner's code may have started others."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        return


def _how(process: subprocess.Popen) -> str:
    try:
        code = process.wait(5)
    except subprocess.TimeoutExpired:
        return "it closed the grader's pipe"
    if code >= 0:
        return f"exit code {code}"
    return {11: "segmentation fault", 6: "abort", 9: "killed"}.get(-code, f"signal {-code}")
