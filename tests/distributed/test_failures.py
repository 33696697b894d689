"""What happens when a rank dies or does not come: all end, and it is said who and where."""

import os
import re
import signal
import subprocess
import sys
import time
import uuid

import pytest

from tests.distributed.launching import RANKS, ROOT, mpi, start

pytestmark = mpi


def rank_processes(token):
    """Living ranks that were started with this argument, where the system has /proc."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        try:
            with open(f"/proc/{name}/cmdline", encoding="utf-8") as file:
                line = file.read()
        except OSError:
            continue
        if token in line and "mpi4py" in line:
            found.append((name, line))
    return found


def test_a_killed_rank_ends_all_and_is_named_with_its_last_traceback():
    token = uuid.uuid4().hex
    done = start("failing.py", 4, "kill", token)
    ended = time.time()
    killed = float(re.search(r"killed at ([\d.]+)", done.stdout)[1])
    assert done.returncode != 0 and ended - killed < 10
    assert "rank 2" in done.stderr and "died by signal 9 (SIGKILL)" in done.stderr
    assert "in busy" in done.stderr.split("Its last traceback")[1]
    assert rank_processes(token) == []


@pytest.mark.parametrize(
    "how, words",
    [
        ("raise", ["rank 1", "ValueError: planted", "failing.py"]),
        ("leave", ["rank 1", "in the middle of its script"]),
        ("late", ["Timed out after 2 s in", "rank 3 has not arrived", "of group 'default'"]),
        ("monitored", ["Ranks 1, 3 failed to pass monitoredBarrier in 2000 ms"]),
    ],
)
def test_the_reason_is_told(how, words):
    done = start("failing.py", 4, how)
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr, done.stderr[-3000:]


@pytest.mark.parametrize(
    "where, words",
    [
        ("before_import", "rank 1 died by signal 9 (SIGKILL), before its script had begun, after"),
        ("before_init", "died by signal 9 (SIGKILL) after"),
        ("in_init", "died by signal 14 (SIGALRM) after"),
        ("leaves", "ended without init_process_group, where rank 0 waits for it, after"),
    ],
)
def test_a_rank_that_is_gone_before_all_have_met_is_missed(where, words):
    """mpiexec takes no notice of it, and the others wait in MPI_Init, where no code of ours runs."""
    path = str(RANKS / "dying_at_import") if where == "before_import" else ""
    began = time.monotonic()
    done = start("dying_early.py", 2, where, environment={"PYTHONPATH": os.pathsep.join([str(ROOT), path])})
    assert done.returncode not in (0, 124) and time.monotonic() - began < 60, done.stderr[-3000:]
    said = [
        line for line in done.stderr.splitlines() if line.startswith("teachtorch.distributed.run: rank 1")
    ]
    assert said and words in said[0], done.stderr[-3000:]


def test_a_job_that_is_interrupted_says_where_its_ranks_were():
    token = uuid.uuid4().hex
    command = [
        sys.executable,
        "-m",
        "teachtorch.distributed.run",
        "--nproc-per-node",
        "1",
        str(RANKS / "hanging.py"),
        token,
    ]
    job = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
    )
    assert job.stdout.readline() == "recorded\n"
    job.send_signal(signal.SIGTERM)
    _, errors = job.communicate(timeout=60)
    assert job.returncode == 130 and "in hang_here" in errors
    assert rank_processes(token) == []
