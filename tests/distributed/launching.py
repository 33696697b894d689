"""Starting ranks from a test: with a time limit from outside, and a report of every rank."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

RANKS = Path(__file__).parent / "ranks"
ROOT = Path(__file__).parents[2]
LIMIT = 150  # seconds: generous, the machine may be busy

has_mpi = find_spec("mpi4py") is not None and (
    shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec")
)
mpi = [
    pytest.mark.mpi,
    pytest.mark.skipif(
        not has_mpi and os.environ.get("CI") != "true", reason="needs mpi4py and an MPI library"
    ),
]


def start(script, ranks, *arguments, flags=(), environment=()):
    """Run a script of `ranks/` through the launcher: the finished process."""
    command = [
        sys.executable,
        "-m",
        "teachtorch.distributed.run",
        "--timeout",
        str(LIMIT - 20),
        *flags,
        "--nproc-per-node",
        str(ranks),
        str(RANKS / script),
        *map(str, arguments),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **dict(environment)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, cwd=ROOT)


def check_all(script, ranks, folder):
    """Run the checks of a script; fail with what failed, on which rank, and with a rank that has not reported."""
    done = start(script, ranks, folder)
    reports = {path.stem: json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))}
    failures = [
        f"rank {rank}, {name}:\n{text}"
        for rank, report in reports.items()
        for name, text in report.items()
        if text != "ok"
    ]
    assert not failures, "\n".join(failures)
    assert len(reports) == ranks, f"{len(reports)} of {ranks} ranks have reported\n{done.stderr[-3000:]}"
    assert done.returncode == 0, done.stderr[-3000:]
    return reports
