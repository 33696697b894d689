"""Ctrl-C, a polite end and a violent one: no graded process outlives the command."""

import os
import signal
import subprocess
import sys
import time
import uuid

import pytest

from exercises import catalog
from exercises.workspace import Workspace
from tests.exercises.conftest import running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
DEADLINE_SECONDS = 60


def wait_for(condition):
    """Wait until something is so; a generous deadline only turns a hang into a failure."""
    end = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def grading(tmp_path):
    """A `check` of an answer that never ends, seen running; and how its processes are found."""
    workspace = Workspace(tmp_path / "mine")
    workspace.prepare()
    workspace.file(catalog.find("offset")).write_text("while True:\n    pass\n")
    mark = f"TEACHTORCH_TEST={uuid.uuid4()}"
    environment = {**os.environ, "PYTHONPATH": str(catalog.PACKAGE.parent), **dict([mark.split("=")])}
    words = ["-m", "exercises", "--workspace", str(workspace.folder), "--seconds", "600", "check", "offset"]
    process = subprocess.Popen([sys.executable, *words], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: len(running(mark)) == 2)
        yield process, mark
    finally:
        process.kill()
        process.stderr.close()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(grading, number):
    process, mark = grading
    process.send_signal(number)
    _, errors = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    assert errors.strip() == "stopped"
    assert running(mark) == []


def test_killed(grading):
    process, mark = grading
    process.kill()
    wait_for(lambda: running(mark) == [])
