"""The fixtures of the test files for plain `pytest`: `yours`, the file beside the test, `rng`, and `ranks`.

A test with `ranks` runs in processes, as it does in the grader; without MPI, in threads.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from exercises import catalog
from exercises.grading import calls, guard, loading, rank_pool
from exercises.grading.compare import Mismatch
from exercises.grading.ranks import Ranks

SECONDS, MEMORY = 60.0, 1 << 30  # what a test with ranks may take
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


@pytest.fixture
def ranks() -> type[Ranks]:
    """Ranks on threads, for a test that is not run in processes."""
    return Ranks


@pytest.fixture(scope="session")
def _processes():
    """The processes for tests with ranks; None where they cannot be started."""
    pool = rank_pool.Pool()
    try:
        if rank_pool.is_possible():
            pool.ready()
        yield pool if pool.process is not None else None
    finally:
        pool.close()


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Have a test with ranks run in processes."""
    if "ranks" not in pyfuncitem._fixtureinfo.argnames:
        return None
    pool = pyfuncitem._request.getfixturevalue("_processes")
    if pool is None:
        return None
    answer = pool.run(_request_for(pyfuncitem), SECONDS)
    print(answer["printed"], end="")
    if answer["kind"] != "passed":
        raise Mismatch(answer["message"])
    return True


def _request_for(item: pytest.Function) -> dict:
    test = Path(item.path)
    name = test.stem.removeprefix("test_")
    rules = rules_of(catalog.find(name))
    file = str(test.with_name(f"{name}.py"))
    return {
        "job": file,
        "test": str(test),
        "file": file,
        "snapshot": "",
        "rules": {"imports": rules.imports, "forbidden": rules.forbidden},
        "seed": SEED,
        "name": item.name,
        "memory_bytes": MEMORY,
    }
