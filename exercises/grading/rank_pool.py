"""The grader's side of tests with ranks: it starts the processes with teachtorch's launcher.

The processes stay for all tests of a grading. If a learner's code ends one of them, or does not come to an
end, the launcher ends all and says where they were; then they are started again for the next test.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from exercises.grading.explain import at_line

ADDRESS, KEY = "TEACHTORCH_GRADER", "TEACHTORCH_GRADER_KEY"  # environment of the processes
SIZE = 4
START_SECONDS = 100.0
END_SECONDS = 15.0
MOST_STOPS = 2  # so many properties whose ranks had to be started again; then no more
NOT_RUN = {
    "kind": "not run",
    "message": f"not run, because the ranks of {MOST_STOPS} properties before it had to be stopped",
    "printed": "",
}
SAID = "teachtorch.distributed.run: "
WITHOUT_MPI = (
    "graded with ranks on threads: for real processes install MPI, pip install 'teachtorch[distributed]'"
)


def is_possible() -> bool:
    """Whether there is an MPI to start processes with."""
    beside = shutil.which("mpiexec", path=os.path.dirname(sys.executable))
    return importlib.util.find_spec("mpi4py") is not None and bool(beside or shutil.which("mpiexec"))


class CannotStart(Exception):
    """The launcher has ended before the ranks were there."""


class Pool:
    """`size` processes. Start them with `ready`, and end them with `close`."""

    def __init__(self, size: int = SIZE) -> None:
        self.size, self.process, self.line, self.errors, self.number = size, None, None, None, 0

    def ready(self) -> None:
        """Start the processes, unless they are there. CannotStart, with the launcher's words."""
        if self.process is not None:
            return
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        key = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.process = self._launch(server.getsockname()[1], key)
            self.line = self._accepted(server, key)
        if self.line is None:
            self.close()
            raise CannotStart(self._words() or "the launcher has not started the ranks in time")

    def run(self, request: dict, seconds: float) -> dict:
        """What came of a test: {kind, message, printed}."""
        self.ready()
        self.number += 1
        try:
            self.line.settimeout(seconds)
            self.line.sendall(json.dumps({**request, "number": self.number}).encode() + b"\n")
            answer = self._hear()
        except TimeoutError:
            return self._hung(request["file"], seconds)
        except OSError:
            answer = ""
        return json.loads(answer) if answer else self._died()

    def close(self) -> None:
        """End the processes."""
        if self.process is None:
            return
        if self.line is not None:
            self.line.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = self.line = None

    # ---- starting ----

    def _launch(self, port: int, key: str) -> subprocess.Popen:
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        places = {ADDRESS: f"127.0.0.1:{port}", KEY: key, "PYTHONPATH": path}
        launcher = [sys.executable, "-m", "teachtorch.distributed.run", "--nproc-per-node", str(self.size)]
        return subprocess.Popen(
            [*launcher, "-m", "exercises.grading.rank_worker"],
            env={**os.environ, **places},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
        )

    def _accepted(self, server: socket.socket, key: str) -> socket.socket | None:
        """The connection of rank 0; None if the launcher ends before."""
        server.settimeout(0.1)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.line, _ = server.accept()
            except TimeoutError:
                continue
            self.line.settimeout(START_SECONDS)
            self.rest = b""
            if json.loads(self._hear() or "{}").get("key") == key:
                return self.line
            self.line.close()
        return None

    # ---- listening ----

    def _hear(self) -> str:
        """The next line; an empty one if the other end is gone."""
        deadline = time.monotonic() + (self.line.gettimeout() or 0)
        while b"\n" not in self.rest:
            self.line.settimeout(max(0.01, deadline - time.monotonic()))
            received = self.line.recv(1 << 16)
            if not received:
                return ""
            self.rest += received
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def _hung(self, file: str, seconds: float) -> dict:
        """The ranks are still at it: end them, and say where they were."""
        self.close()
        places = [f"rank {rank}{at_line(file, line)}" for rank, line in self._where(file)]
        message = "\n".join([f"stopped after {seconds:g} s: your code was still running", *places])
        return {"kind": "timeout", "message": message, "printed": ""}

    def _where(self, file: str) -> list[tuple[str, int]]:
        """(rank, line of the learner's file) from the launcher's report."""
        parts = re.split(rf"{re.escape(SAID)}rank (\d+), \w+\. ", self._report())
        found = []
        for rank, text in zip(parts[1::2], parts[2::2]):
            lines = re.findall(rf'File "{re.escape(file)}", line (\d+)', text)
            found += [(rank, int(lines[-1]))] if lines else []
        return found

    def _died(self) -> dict:
        """A rank has ended: the launcher says which."""
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            pass  # `close` ends it
        self.close()
        words = re.sub(r" \(pid \d+\)| after [\d.]+ s", "", self._words())
        return {"kind": "crashed", "message": f"your code ended a process: {words}", "printed": ""}

    def _words(self) -> str:
        """The first thing that the launcher has said."""
        lines = self._report().splitlines()
        return next(
            (line.removeprefix(SAID) for line in lines if line.startswith(SAID)), "\n".join(lines[-3:])
        )

    def _report(self) -> str:
        self.errors.seek(0)
        return self.errors.read()
