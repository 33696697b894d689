"""`cuda`: a GPU, through the package numba-cuda (`pip install teachtorch[cuda]`).

    driver.py    what is asked of the GPU's driver: memory, copies, streams, events; and the simulator's form
    runtime.py   the device behind the interface of memory/runtime.py, so that memory/caching serves it

Nothing is imported before somebody asks for the device. With NUMBA_ENABLE_CUDASIM=1 the device is Numba's
simulator, which needs no GPU: each thread of a kernel is then a Python thread, so that only small tensors
make sense.
"""

import functools
import importlib.util
import os


@functools.lru_cache(maxsize=None)
def is_simulated():
    """Whether the user asked for the simulator in place of a GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "1"


@functools.lru_cache(maxsize=None)
def why_not():
    """None if the device can be used, else the reason in a sentence."""
    if is_simulated():
        return None
    if importlib.util.find_spec("numba_cuda") is None:
        return "the package numba-cuda is not installed (pip install 'teachtorch[cuda]')"
    from numba import cuda

    return None if cuda.is_available() else "numba-cuda finds no GPU that it can use"
