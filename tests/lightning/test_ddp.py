"""The Trainer with strategy "ddp" is training in one process on the joined batches."""

from tests.distributed.launching import check_all, mpi

pytestmark = mpi


def test_two_ranks(tmp_path):
    check_all("trainer.py", 2, tmp_path)
