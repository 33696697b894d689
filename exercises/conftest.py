"""Plain `pytest exercises/ch02_strides` grades the files that lie beside the tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from exercises.grading.fixtures import _fresh_calls, pytest_report_header, rng, yours  # noqa: E402, F401

collect_ignore = ["_solutions", "grading"]
