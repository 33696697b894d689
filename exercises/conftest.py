"""Plain `pytest exercises/ch02_strides` grades the files that lie beside the tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from exercises.grading.fixtures import SEED, _fresh_calls, rng, yours  # noqa: E402, F401

collect_ignore = ["_solutions", "grading"]


def pytest_report_header() -> str:
    """Say how to repeat this run's random cases."""
    return f"exercises: random cases of seed {SEED} (repeat with TEACHTORCH_SEED={SEED})"
