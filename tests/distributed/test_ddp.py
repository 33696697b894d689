"""DistributedDataParallel on real ranks is training in one process on the joined batch; in one launch each."""

import pytest

from tests.distributed.launching import check_all, mpi

pytestmark = mpi


@pytest.mark.parametrize("ranks", [2, 3])
def test_ddp_is_one_process_on_the_joined_batch(ranks, tmp_path):
    check_all("ddp.py", ranks, tmp_path)


@pytest.mark.parametrize("ranks", [2, 3])
def test_zero_is_the_plain_optimizer_and_join_shadows(ranks, tmp_path):
    check_all("zero_and_join.py", ranks, tmp_path)
