"""Nothing may be left behind: no segment of shared memory, no process."""

import gc
import multiprocessing
import os

import pytest

from teachtorch.memory import shared


def segments():
    """Names of this process's shared memory."""
    if not os.path.isdir(shared.MEMORY_FOLDER):
        return set()
    mine = f"{shared.PREFIX}{os.getpid()}_"
    return {name for name in os.listdir(shared.MEMORY_FOLDER) if name.startswith(mine)}


@pytest.fixture(autouse=True)
def nothing_left_behind():
    strategy = shared.strategy
    yield
    shared.strategy = strategy
    gc.collect()
    assert segments() == set()
    assert multiprocessing.active_children() == []


@pytest.fixture(params=sorted(shared.STRATEGIES))
def strategy(request):
    import teachtorch.multiprocessing as mp

    mp.set_sharing_strategy(request.param)
    return request.param
