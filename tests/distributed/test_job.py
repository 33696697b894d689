"""Who is to blame, from what the ranks have left: no ranks needed."""

import os

from teachtorch.distributed.job import GRACE, missing_for_good


def box(rank, exit=None, state="running", mpi="joined", since=0.0, limit=100.0, **more):
    """What black_box.read tells of one rank."""
    content = {"rank": rank, "pid": os.getpid(), "state": state, "time": 0.0, "traceback": "", "exit": exit}
    return {**content, "exit_time": float(rank), "mpi": mpi, "mpi_since": since, "mpi_limit": limit, **more}


def blamed(*boxes, now=1.0):
    found = missing_for_good({one["rank"]: one for one in boxes}, now)
    return found and found["rank"]


def test_the_first_that_ended_badly():
    assert blamed(box(0), box(1, exit=137), box(2, exit=1)) == 1
    assert blamed(box(0, exit=1), box(1, exit=0, state="failed", time=3.0)) == 1
    assert blamed(box(0, exit=137, exit_time=5.0), box(1, exit=137, exit_time=4.0)) == 1


def test_ranks_that_have_done_their_work_are_not_missed():
    assert blamed(box(0), box(1, exit=0, state="finished")) is None
    assert blamed(box(0, mpi=None), box(1, exit=0, mpi=None)) is None  # a script without MPI


def test_who_has_left_while_others_wait_in_init():
    left = box(1, exit=0, state="finished", mpi=None)
    assert blamed(box(0, mpi="joining"), left, now=GRACE / 2) is None
    assert blamed(box(0, mpi="joining"), left, now=GRACE + 1) == 1


def test_who_does_not_come_to_init_in_time():
    late = box(1, mpi=None)
    assert blamed(box(0, mpi="joining", limit=30.0), late, now=29.0) is None
    assert blamed(box(0, mpi="joining", limit=30.0), late, now=31.0) == 1


def test_who_is_gone_together_with_its_witness():
    assert blamed(box(0), box(1, pid=2**22 + 1)) == 1
