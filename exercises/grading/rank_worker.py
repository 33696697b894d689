"""One of the processes in which tests with ranks run; the launcher of teachtorch.distributed starts them.

Rank 0 hears from the grader which test is next, and tells it what came of it (`rank_pool.py`). All processes
run the test, each with its own copy of the learner's module.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import random
import socket
from pathlib import Path

from mpi4py import MPI

from exercises.grading import calls, guard, loading
from exercises.grading.explain import explain, explain_import
from exercises.grading.integrity import Snapshot
from exercises.grading.memory import Memory
from exercises.grading.processes import Failed, Post, World
from exercises.grading.rank_pool import ADDRESS, KEY

LONGEST = 4000  # characters that a rank may print in a test; the rest is dropped


class Worker:
    """One process: the test files and the learner's modules that it has imported."""

    def __init__(self) -> None:
        self.post, self.tests, self.answers = Post(MPI), {}, {}
        self.talk = Talk() if self.post.rank == 0 else None

    def run(self) -> None:
        """One test after another, until the grader has no more."""
        while True:
            request = self._next()
            if request is None:
                return
            told = self._grade(request)
            printed = self._printed_by_all(told.pop("printed"))
            if self.talk is not None:
                self.talk.tell({**told, "printed": printed})

    def _next(self) -> dict | None:
        """The next test; rank 0 gives it to the others."""
        if self.talk is None:
            return self.post.wait(0, "request")
        request = self.talk.hear()
        for other in range(1, self.post.size):
            self.post.send(other, "request", request)
        return request

    def _grade(self, request: dict) -> dict:
        """Run one test here: {kind, message, printed}."""
        memory, out, self.explains = Memory(request["memory_bytes"]), Printed(), explain_import
        calls.forget()
        self.memory, self.file = memory, request["file"]
        with out.taken():
            memory.limit()
            try:
                kind, message = self._outcome(request)
            finally:
                memory.relax()
        return {"kind": kind, "message": message, "printed": out.getvalue()}

    def _outcome(self, request: dict) -> tuple[str, str]:
        try:
            yours = self._answer(request)
            self.explains = explain
            test = getattr(self._test(request["test"]), request["name"])
            snapshot = Snapshot(self.tests[request["test"]])
            test(**self._arguments(test, yours, request))
        except Failed as failed:
            return failed.args
        except BaseException as error:  # noqa: BLE001  whatever a learner's code raises is told
            self.memory.relax()
            return self._explained(error)
        broken = snapshot.changed()
        if broken:
            return "tampered", f"your file replaced `{broken}`; the tests need the real one"
        return "passed", ""

    def _explained(self, error: BaseException) -> tuple[str, str]:
        return self.explains(error, self.file, self.memory.megabytes)

    def _arguments(self, test, yours, request: dict) -> dict:
        names = test.__code__.co_varnames[: test.__code__.co_argcount]
        rng = random.Random(f"{request['seed']}:{request['name']}")
        given = {"yours": yours, "ranks": self._world(request).ranks, "rng": rng}
        return {name: given[name] for name in names}

    def _world(self, request: dict) -> World:
        world = World(self.post, self._explained)
        world.runs = ((request["number"], run) for run in world.runs)  # no two runs have one name
        return world

    def _test(self, file: str):
        if file not in self.tests:
            spec = importlib.util.spec_from_file_location(f"on_ranks_{len(self.tests)}", file)
            self.tests[file] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.tests[file])
        return self.tests[file]

    def _answer(self, request: dict):
        """The learner's module, imported once for all tests of one exercise."""
        if request["job"] not in self.answers:
            rules = request["rules"]
            known = (
                guard.Rules(tuple(rules["imports"]), tuple(map(tuple, rules["forbidden"]))) if rules else None
            )
            source = Path(request["snapshot"]) if request["snapshot"] else None
            self.answers = {request["job"]: loading.load(Path(request["file"]), known, source)}
        return self.answers[request["job"]]

    def _printed_by_all(self, mine: str) -> str:
        """What all ranks have printed, each line after its rank; in rank 0, which waits for the others."""
        if self.talk is None:
            self.post.send(0, "printed", mine)
            return ""
        texts = [mine] + [self.post.wait(rank, "printed") for rank in range(1, self.post.size)]
        return "".join(f"[{rank}] {line}\n" for rank, text in enumerate(texts) for line in text.splitlines())


class Printed(io.StringIO):
    """What is printed in a block, up to a length."""

    def write(self, text: str) -> int:
        return super().write(text[: max(0, LONGEST - self.tell())]) and len(text)

    def taken(self):
        """A context in which print writes here."""
        return contextlib.redirect_stdout(self)


class Talk:
    """Rank 0's line to the grader: one JSON text a line."""

    def __init__(self) -> None:
        host, port = os.environ[ADDRESS].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.tell({"key": os.environ.pop(KEY)})

    def hear(self) -> dict | None:
        """The next request; None when the grader has hung up."""
        line = self.lines.readline()
        return json.loads(line) if line else None

    def tell(self, message: dict) -> None:
        self.socket.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    Worker().run()
