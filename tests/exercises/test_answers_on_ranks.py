"""Exercises of chapter 21 are graded on real ranks; what a rank does to its process is told, and soon."""

import os
import shutil
import uuid

import pytest

from exercises import catalog, show
from exercises.workspace import Workspace
from tests.distributed.launching import mpi
from tests.exercises.conftest import kinds, running
from tests.exercises.test_plain_pytest import pytest_on

RUNS = """
import os

class Reducer:
    def __init__(self, comm, buckets):
        self.comm = comm
        print(f"pid {{os.getpid()}}\\n", end="")     # in one piece: ranks may be threads

    def ready(self, index, grad):
        {does}

    def finish(self):
        return {{}}
"""


def on_ranks(test):
    """The marks of a test that needs MPI."""
    for mark in mpi:
        test = mark(test)
    return test


@pytest.fixture
def graded_reducer(graded, monkeypatch):
    """Grade a Reducer whose `ready` does this; afterwards none of its processes may be left."""
    mark = f"mark-{uuid.uuid4().hex}"
    monkeypatch.setenv("TEACHTORCH_TEST_MARK", mark)

    def grade(does, **limits):
        return graded(RUNS.format(does=does), "reducer", **limits)

    yield grade
    assert running(mark) == []


@on_ranks
def test_ranks_are_processes(graded_reducer):
    result = graded_reducer("pass", seconds=60.0)
    lines = result.outcomes[0].printed.splitlines()
    pids = {line.split("pid ")[1] for line in lines}
    assert sorted(line.split(" pid")[0] for line in lines) == ["[0]", "[1]"] and len(pids) == 2
    assert str(os.getpid()) not in pids and result.note == "" and kinds(result)["test_average"] == "wrong"


@on_ranks
def test_a_rank_that_is_killed_is_named(graded_reducer):
    result = graded_reducer("os.kill(os.getpid(), 9) if self.comm.rank == 1 else None", seconds=60.0)
    first = result.outcomes[0]
    assert first.kind == "crashed" and "rank 1 died by signal 9 (SIGKILL)" in first.message, first.message
    assert [each.kind for each in result.outcomes] == ["crashed"] * 2 + ["not run"] * 3


@on_ranks
def test_a_rank_that_does_not_end_is_named_with_its_line(graded_reducer):
    result = graded_reducer("while self.comm.rank == 1: pass", seconds=4.0)
    first = result.outcomes[0]
    assert first.kind == "timeout", first
    assert "stopped after 4 s" in first.message and "rank 1\n  at line" in first.message, first.message
    assert "while self.comm.rank == 1: pass" in first.message


def test_without_mpi_the_ranks_are_threads_and_it_is_said(graded_reducer, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['mpi4py'] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = graded_reducer("pass", seconds=60.0)
    assert "ranks on threads" in result.note and "teachtorch[distributed]" in show.headline(result)
    assert kinds(result)["test_average"] == "wrong"
    lines = result.outcomes[0].printed.splitlines()
    assert len(lines) == 2 and len(set(lines)) == 1 and lines[0].startswith("pid "), lines


@on_ranks
def test_plain_pytest_starts_ranks_too(tmp_path):
    workspace, exercise = Workspace(tmp_path / "mine"), catalog.find("find_unused")
    workspace.prepare()
    shutil.copyfile(exercise.solutions / "wrong_skips.py", workspace.file(exercise))
    answer = pytest_on("ch21_distributed/test_find_unused.py", "-q", cwd=workspace.folder)
    assert "2 failed, 4 passed" in answer.stdout, answer.stdout + answer.stderr
    assert "rank 0 in all_reduce(of 1), rank 1 in all_reduce(of 2)" in answer.stdout
