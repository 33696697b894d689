"""Grading a text as if a learner had written it, and looking for processes that were left behind."""

import os
import textwrap
from pathlib import Path

import pytest

from exercises import catalog
from exercises.results import Job, Limits, Result
from exercises.runner import grade

SIGNATURE = "def storage_position(index, sizes, strides, storage_offset):"


@pytest.fixture
def graded(tmp_path):
    """Grade a source text as an answer to an exercise; imports are free unless `guarded`."""

    def grade_text(source: str, name: str = "offset", guarded: bool = False, **limits) -> Result:
        file = tmp_path / f"{name}.py"
        file.write_text(textwrap.dedent(source).replace("SIGNATURE", SIGNATURE), encoding="utf-8")
        (result,) = grade([Job(catalog.find(name), file, seed=1, guarded=guarded)], Limits(**limits))
        return result

    return grade_text


def kinds(result: Result) -> dict[str, str]:
    """How each property of a result went."""
    return {outcome.property.name: outcome.kind for outcome in result.outcomes}


def running(text: str) -> list[int]:
    """The processes whose command line or environment holds this text (Linux; elsewhere none is found)."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in words and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found
