"""The watched process: pytest on one exercise after another, each step told to the parent as a signed event.

Standard input carries the request, standard output the events. Whatever the learner's code prints goes to
standard error.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import numpy  # noqa: F401  bound before a learner's file can touch it
import pytest

from exercises.events import Signer
from exercises.grading import calls, guard, loading, rank_pool
from exercises.grading.explain import explain, explain_import
from exercises.grading.integrity import Snapshot
from exercises.grading.memory import Memory
from exercises.grading.ranks import Ranks

IMPORT = "<import>"
PR_SET_PDEATHSIG = 1


class Grading:
    """The pytest plugin that grades one exercise, by its own record and not by pytest's outcome."""

    def __init__(self, job: dict, session: Session) -> None:
        self.job = job
        self.session = session
        self.module = None
        self.ran = 0
        self.broken = self.note = ""
        self.snapshot, self.stopped = None, 0

    @pytest.fixture
    def yours(self) -> loading.Yours:
        """The learner's module."""
        return self.module

    @pytest.fixture
    def ranks(self) -> type[Ranks]:
        """Ranks on threads; where there is MPI, the whole test runs in processes instead."""
        return Ranks

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> random.Random:
        """The random numbers of this run."""
        return random.Random(f"{self.job['seed']}:{request.node.name}")

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Leave out the tests that an earlier process has done."""
        items[:] = [item for item in items if item.name not in self.job["done"]]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Import the learner's file, after everything that grades it is in place."""
        modules = {item.module for item in session.items}
        self.snapshot = Snapshot(*modules)
        self.note = self.session.start_ranks() if any(map(needs_ranks, session.items)) else ""
        self.module = self._step(IMPORT, self._load, explain_import)
        if self.module is None:
            session.items.clear()

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        """Run one test."""
        names = pyfuncitem._fixtureinfo.argnames
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        gives_up = self.stopped >= rank_pool.MOST_STOPS
        if needs_ranks(pyfuncitem) and (gives_up or self.session.start_ranks() == ""):
            self._step_on_ranks(pyfuncitem, gives_up)
        else:
            self._step(pyfuncitem.name, lambda: pyfuncitem.obj(**arguments), explain)
        self.ran += 1
        if self.broken:
            pyfuncitem.session.shouldstop = self.broken
        return True

    def _load(self):
        rules = self.job["rules"]
        known = guard.Rules(tuple(rules["imports"]), tuple(map(tuple, rules["forbidden"]))) if rules else None
        return loading.load(Path(self.job["file"]), known, Path(self.job["snapshot"]))

    def _step(self, name: str, action, explained):
        """Run the learner's code once, and tell the parent how it went."""
        calls.forget()
        self.session.start(self.job["id"], name)
        begin = time.perf_counter()
        answer, failure = self._watched(action, explained)
        self.broken = self.snapshot.changed()
        if self.broken:
            failure = "tampered", f"your file replaced `{self.broken}`; the tests need the real one"
        self.session.end(self.job["id"], name, failure, time.perf_counter() - begin)
        return None if failure else answer

    def _step_on_ranks(self, item: pytest.Function, gives_up: bool) -> None:
        """Have the ranks run a test, unless too many had to be stopped."""
        names = ("test", "file", "snapshot", "rules", "seed")
        request = {**{name: self.job[name] for name in names}, "job": self.job["id"], "name": item.name}
        self.session.start(self.job["id"], item.name, rank_pool.END_SECONDS)
        begin = time.perf_counter()
        answer = rank_pool.NOT_RUN if gives_up else self.session.on_ranks(request)
        self.stopped += answer["kind"] in ("timeout", "crashed")
        sys.stderr.write(answer["printed"])
        failure = None if answer["kind"] == "passed" else (answer["kind"], answer["message"])
        self.session.end(self.job["id"], item.name, failure, time.perf_counter() - begin)

    def _watched(self, action, explained):
        memory = self.session.memory
        memory.limit()
        try:
            return action(), None
        except BaseException as error:  # whatever a learner's code raises is an answer to report
            memory.relax()
            return None, explained(error, self.job["file"], memory.megabytes)
        finally:
            memory.relax()


class Session:
    """What all jobs of this process share: the way to the parent, the limits."""

    def __init__(self, request: dict, events) -> None:
        self.signer = Signer(events, bytes.fromhex(request["key"]))
        self.marker = request["marker"].encode()
        self.memory = Memory(request["memory_bytes"])
        self.seconds, self.import_factor = request["seconds"], request["import_factor"]
        self.stacks = open(request["stacks"], "w")
        faulthandler.enable(self.stacks)
        self.pool, self.pool_problem = rank_pool.Pool(), ""

    def start_ranks(self) -> str:
        """Start the processes for tests with ranks; empty, or why tests must do without."""
        if not self.pool_problem and not rank_pool.is_possible():
            self.pool_problem = rank_pool.WITHOUT_MPI
        if not self.pool_problem:
            try:
                self.pool.ready()
            except rank_pool.CannotStart as problem:
                self.pool_problem = f"graded with ranks on threads: processes cannot be started: {problem}"
        return self.pool_problem

    def on_ranks(self, request: dict) -> dict:
        """What came of a test that the ranks have run."""
        return self.pool.run({**request, "memory_bytes": self.memory.bytes}, self.seconds)

    def start(self, job: int, test: str, spare: float = 0.0) -> None:
        """Tell that a test begins; have Python's stack written down shortly before its time is over.

        spare: seconds that ending it may take.
        """
        self.stacks.seek(0)
        self.stacks.truncate()
        seconds = self.seconds * (self.import_factor if test == IMPORT else 1)
        faulthandler.dump_traceback_later(seconds * 0.9, file=self.stacks)
        self.signer.send({"event": "start", "job": job, "test": test, "spare": spare})

    def end(self, job: int, test: str, failure: tuple[str, str] | None, seconds: float) -> None:
        """Tell how a test ended."""
        faulthandler.cancel_dump_traceback_later()
        _flush(self.marker)
        kind, message = failure or ("passed", "")
        event = {"event": "end", "job": job, "test": test, "kind": kind, "message": message}
        self.signer.send({**event, "seconds": round(seconds, 4)})


def needs_ranks(item: pytest.Function) -> bool:
    """Whether a test asks for ranks."""
    return "ranks" in item._fixtureinfo.argnames


def main() -> None:
    """Grade the jobs of the request on standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    session = Session(request, _take_over_streams())
    _die_with_parent(request["parent"])
    _unblock_signals()
    sys.breakpointhook = _no_debugger
    sys.pycache_prefix = request["folder"]
    session.signer.send({"event": "ready"})
    base = Snapshot()
    for job in request["jobs"]:
        broken = _grade(job, session, request["folder"]) or base.changed() or _left_behind()
        if broken:
            break
    session.pool.close()
    session.signer.send({"event": "bye"})
    os._exit(0)


def _grade(job: dict, session: Session, folder: str) -> str:
    plugin = Grading(job, session)
    for name in [name for name in sys.modules if name.startswith(f"exercises.{job['set']}")]:
        del sys.modules[name]
    options = "-s --noconftest --import-mode=importlib --assert=plain"
    without = "-p no:cacheprovider -p no:terminal -p no:faulthandler"
    own = ["-c", f"{folder}/pytest.ini", f"--rootdir={folder}"]
    pytest.main([*options.split(), *without.split(), *own, job["test"]], plugins=[plugin])
    session.signer.send({"event": "finished", "job": job["id"], "ran": plugin.ran, "note": plugin.note})
    sys.modules.pop(loading.MODULE, None)
    plugin.module = None
    gc.collect()
    gc.freeze()  # what is left stays, teachtorch for one: the next collections need not look at it
    return plugin.broken


def _take_over_streams():
    """Keep standard output for the events; what is printed from now on goes to standard error."""
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    sys.stdin = open(0, closefd=False)
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    return events


def _flush(marker: bytes) -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # the learner closed it
    try:
        os.write(2, marker)
    except OSError:
        return


def _die_with_parent(parent: int) -> None:
    """On Linux, end when the parent does, whatever this process is doing then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _no_debugger(*arguments, **keywords) -> None:
    raise RuntimeError("breakpoint() has no terminal here; plain `pytest --pdb` on the test file has one")


def _left_behind() -> str:
    """What would reach the next exercise in this process: threads, and switches of teachtorch."""
    threads = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    return ", ".join(threads + _switches())


def _switches() -> list[str]:
    """The switches of teachtorch that are not as a new process has them: grad mode, hooks, default dtype."""
    if "teachtorch.tensor" not in sys.modules:
        return []
    state, settings = (sys.modules[f"teachtorch.{name}"] for name in ("dispatch.state", "core.settings"))
    left = [name for name, value in vars(state.state).items() if value != getattr(state.ThreadState, name)]
    default = settings.default_dtype.name == "float32" and settings.default_device is None
    return left + ([] if default else ["default dtype or device"])


def _unblock_signals() -> None:
    """The parent holds some back while it starts a process, and that is inherited."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
