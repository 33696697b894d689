"""Ranks that are gone before they have met: the first argument says where rank 1 dies."""

import os
import signal
import sys
import time
from datetime import timedelta

import teachtorch.distributed as dist

where, rank = sys.argv[1], int(os.environ["RANK"])
if where == "before_init" and rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
if where == "leaves" and rank == 1:
    sys.exit(0)
if where == "in_init" and rank == 1:
    signal.setitimer(signal.ITIMER_REAL, 0.5)  # MPI_Init waits for rank 0, and SIGALRM ends it there
if where == "in_init" and rank == 0:
    time.sleep(1.5)
dist.init_process_group(timeout=timedelta(seconds=100))
dist.barrier()
