"""Collectives on real ranks against NumPy: every dtype, operation and kind, in one launch for each world size."""

import pytest

from tests.distributed.launching import check_all, mpi

pytestmark = mpi


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_collective_computes_what_numpy_does(ranks, tmp_path):
    reports = check_all("collectives.py", ranks, tmp_path)
    assert all(len(report) >= 10 for report in reports.values())
