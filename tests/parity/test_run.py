"""A seeded PyTorch script prints the same losses on teachtorch."""
import pytest

from tests.cli.test_run import TRAINING, run

pytest.importorskip("torch")


def test_the_same_losses(tmp_path):
    ours, theirs = run(tmp_path, TRAINING, "3"), run(tmp_path, TRAINING, "3", python="")
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert float(ours.stdout) == pytest.approx(float(theirs.stdout), abs=1e-3)
