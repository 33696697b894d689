"""multiprocessing, in which tensors are shared instead of copied: torch.multiprocessing.

Everything of the standard module is here, unchanged: queues, pipes, processes, pools, contexts. What they
pickle goes through `ForkingPickler`, which is told here how to send a tensor (reductions.py): its storage
moves into shared memory, once, and only a handle travels. `spawn` and `start_processes` (processes.py) start
a function n times and end all when one fails.

https://pytorch.org/docs/stable/multiprocessing.html, paper section 5.4
"""
import multiprocessing
from multiprocessing import *  # noqa: F403

from ..memory import shared as _shared
from .processes import (ProcessContext, ProcessException, ProcessExitedException,  # noqa: F401
                        ProcessRaisedException, SpawnContext, spawn, start_processes)
from .reductions import init_reductions

__all__ = ["set_sharing_strategy", "get_sharing_strategy", "get_all_sharing_strategies", *multiprocessing.__all__]


def set_sharing_strategy(new_strategy):
    """Say how tensors are shared from now on: "file_descriptor" or "file_system" (memory/shared.py explains).

    Set it before processes are started. AssertionError for what this system does not have.
    """
    if new_strategy not in _shared.STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of "
                             f"{get_all_sharing_strategies()}")
    if new_strategy == "file_system":
        _shared.start_tracker()          # now: children must have the same one
    _shared.strategy = new_strategy


def get_sharing_strategy():
    """The strategy in use."""
    return _shared.strategy


def get_all_sharing_strategies():
    """The strategies that this system has."""
    return set(_shared.STRATEGIES)


init_reductions()


def __getattr__(name):
    """The rest of the standard module: what it does not list, such as `connection` and `shared_memory`."""
    return getattr(multiprocessing, name)
