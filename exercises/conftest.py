"""Plain `pytest exercises/ch02_strides` grades the files that lie beside the tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from exercises.grading.fixtures import (  # noqa: E402, F401
    _fresh_calls,
    _processes,
    pytest_pyfunc_call,
    pytest_report_header,
    ranks,
    rng,
    yours,
)

collect_ignore = ["_solutions", "grading"]
