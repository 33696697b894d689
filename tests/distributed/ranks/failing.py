"""Ranks that die, raise or do not come; the first argument says how."""

import os
import signal
import sys
import threading
import time
from datetime import timedelta

import teachtorch as torch
import teachtorch.distributed as dist


def busy():
    """What the rank that is killed does meanwhile."""
    while True:
        sum(range(1000))


how = sys.argv[1]
dist.init_process_group(timeout=timedelta(seconds=100))
rank, x = dist.get_rank(), torch.ones(1000)
dist.all_reduce(x)
dist.group.WORLD.timeout = timedelta(seconds=2 if how == "late" else 100)
if how == "kill" and rank == 2:
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
    print(f"killed at {time.time() + 1.5}", flush=True)
    busy()
if how == "raise" and rank == 1:
    raise ValueError("planted")
if how == "leave" and rank == 1:
    os._exit(0)
if how == "late" and rank == 3:
    busy()
if how == "late" and rank == 1:
    dist.barrier()
if how == "monitored" and rank in (1, 3):
    busy()
if how == "monitored":
    dist.monitored_barrier(timeout=timedelta(seconds=2), wait_all_ranks=True)
dist.all_reduce(x)
