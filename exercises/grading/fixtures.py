"""The fixtures of the test files for plain `pytest`: `yours`, the file beside the test, and `rng`."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from exercises import catalog
from exercises.grading import calls, guard, loading

SEED = int(os.environ.get("TEACHTORCH_SEED") or random.SystemRandom().randrange(10**6))


def rules_of(exercise: catalog.Exercise) -> guard.Rules:
    """What this exercise may import and call."""
    return guard.Rules(exercise.imports, tuple(exercise.forbidden.items()))


def pytest_report_header() -> str:
    """How to repeat this run's random cases."""
    return f"exercises: random cases of seed {SEED} (repeat with TEACHTORCH_SEED={SEED})"


@pytest.fixture(scope="module")
def yours(request: pytest.FixtureRequest) -> loading.Yours:
    """The learner's module: `offset.py` for `test_offset.py`, in the same folder."""
    test = Path(request.path)
    name = test.stem.removeprefix("test_")
    return loading.load(test.with_name(f"{name}.py"), rules_of(catalog.find(name)))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers that differ from run to run; TEACHTORCH_SEED repeats a run."""
    return random.Random(f"{SEED}:{request.node.name}")


@pytest.fixture(autouse=True)
def _fresh_calls() -> None:
    calls.forget()
