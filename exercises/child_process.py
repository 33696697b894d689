"""One child process, in which a learner's code runs: started, listened to, stopped when it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from exercises import catalog
from exercises.events import Reader
from exercises.results import Limits

IMPORT = "<import>"
LINGER_SECONDS = 1.0
IMPORT_FACTOR = 4
START = "import sys; sys.path.append(sys.argv[1]); from exercises.grading.child import main; main()"


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
