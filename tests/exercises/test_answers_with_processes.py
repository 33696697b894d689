"""An answer that starts processes and hangs is ended together with all of them."""

import uuid

import pytest

from exercises import catalog
from exercises.results import Job, Limits
from exercises.runner import grade
from tests.exercises.conftest import running

HANGING = """
import multiprocessing
import os
import time


class Failed(Exception):
    pass


def run_all(functions):
    os.environ["MARK"] = {mark!r}
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        context.Process(target=time.sleep, args=(600,)).start()
    while True:
        time.sleep(1)
"""


@pytest.fixture
def mark(monkeypatch):
    """A text in the environment of all processes that this test starts."""
    found = f"mark-{uuid.uuid4().hex}"
    monkeypatch.setenv("TEACHTORCH_TEST_MARK", found)
    return found


def test_no_process_is_left_of_an_answer_that_hangs(tmp_path, mark):
    answer = tmp_path / "first_failure.py"
    answer.write_text(HANGING.format(mark=mark))
    (result,) = grade([Job(catalog.find("first_failure"), answer)], Limits(seconds=2.0))
    assert "timeout" in {outcome.kind for outcome in result.outcomes}
    assert running(mark) == []
