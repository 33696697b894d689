"""Ranks that begin different collectives are told so, where PyTorch tells them at the level DETAIL only."""

import subprocess
import sys

import pytest

from tests.distributed.launching import ROOT, check_all, mpi


@mpi[0]
@mpi[1]
def test_what_does_not_match_is_refused_on_both_ranks(tmp_path):
    reports = check_all("mismatch.py", 2, tmp_path)
    assert all(len(report) >= 10 for report in reports.values())


PROGRAM = "import teachtorch.distributed as dist; print(dist.get_debug_level().name)"


def level(value, name):
    environment = {"PATH": "", "PYTHONPATH": str(ROOT), name: value}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("name", ["TORCH_DISTRIBUTED_DEBUG", "TEACHTORCH_DISTRIBUTED_DEBUG"])
def test_the_environment_names_the_level(name):
    assert level("DETAIL", name) == level("detail", name) == "DETAIL"
    assert level("INFO", name) == "INFO"
    assert level("foo", name) == f"ValueError: The value of {name} must be OFF, INFO, or DETAIL."


def test_a_level_is_a_debug_level():
    import teachtorch.distributed as dist

    assert dist.get_debug_level() == dist.DebugLevel.OFF
    with pytest.raises(TypeError, match="set_debug_level"):
        dist.set_debug_level("INFO")
