"""spawn and start_processes: one undertaking, the first failure ends it."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import teachtorch as torch
import teachtorch.multiprocessing as mp

from . import work


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_all_run(method):
    seen = torch.zeros(2).share_memory_()
    assert mp.start_processes(work.succeed, (seen,), nprocs=2, start_method=method) is None
    assert seen.tolist() == [1, 2]


def test_spawn_is_start_processes_with_fresh_interpreters():
    seen = torch.zeros(1).share_memory_()
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(work.succeed, (seen,), start_method="fork")
    assert seen.tolist() == [1]


def test_no_processes_have_ended_at_once():
    assert mp.start_processes(work.succeed, nprocs=0, start_method="fork") is None
    assert mp.start_processes(work.succeed, nprocs=0, join=False, start_method="fork").join() is True


def test_the_first_failure_ends_the_others_and_comes_with_its_traceback():
    context = mp.start_processes(work.fail, nprocs=3, join=False, start_method="fork")
    began = time.monotonic()
    with pytest.raises(mp.ProcessRaisedException) as caught:
        while not context.join():
            pass
    assert time.monotonic() - began < 30  # the others would sleep for a minute
    error = caught.value
    assert error.error_index == 1 and error.error_pid == context.pids()[1]
    assert str(error).startswith("\n\n-- Process 1 terminated with the following error:\nTraceback")
    assert "in fail" in str(error) and "ValueError: child one cannot" in str(error)
    assert not any(process.is_alive() for process in context.processes)


@pytest.mark.parametrize(
    ("how", "code", "name", "says"),
    [
        ("killed", -9, "SIGKILL", "process 1 terminated with signal SIGKILL"),
        ("left", 3, None, "process 1 terminated with exit code 3"),
    ],
)
def test_a_process_that_is_gone_is_an_error(how, code, name, says):
    with pytest.raises(mp.ProcessExitedException) as caught:
        mp.start_processes(work.die, (how,), nprocs=2, start_method="fork")
    error = caught.value
    assert (str(error), error.exit_code, error.signal_name, error.error_index) == (says, code, name, 1)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.exit_code, again.error_pid) == (says, code, error.error_pid)


def test_an_exception_that_cannot_be_pickled_is_told_all_the_same():
    with pytest.raises(mp.ProcessRaisedException, match="Odd"):
        mp.start_processes(work.unpicklable, nprocs=1, start_method="fork")


def test_join_with_a_timeout_says_whether_all_have_ended():
    ours, theirs = mp.Pipe()
    context = mp.start_processes(work.start_and_sleep, (theirs,), nprocs=1, join=False, start_method="fork")
    assert ours.recv() == context.pids()[0]
    assert context.join(timeout=0) is False
    context.processes[0].kill()
    with pytest.raises(mp.ProcessExitedException, match="SIGKILL"):
        context.join()


def test_nothing_is_started_by_halves():
    with pytest.raises((AttributeError, pickle.PicklingError)):
        mp.start_processes(lambda index: None, nprocs=2, start_method="spawn")


ORPHANS = """
import os, signal, sys
import teachtorch.multiprocessing as mp
from tests.processes import work

ours, theirs = mp.Pipe()
context = mp.start_processes(work.start_and_sleep, (theirs,), nprocs=2, join=False, start_method="fork")
ours.recv(), ours.recv()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_end_with_their_parent():
    # The children hold the pipe's end; run() returns when it is closed.
    done = subprocess.run(
        [sys.executable, "-c", ORPHANS],
        stdout=subprocess.PIPE,
        timeout=50,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == -signal.SIGKILL
