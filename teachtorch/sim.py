"""`teachtorch.sim`: for the simulated accelerator what torch.cuda is for a GPU.
https://pytorch.org/docs/stable/cuda.html

with sim.stream(side):              operators go into another stream
sim.synchronize()                   the host waits for the device
with sim.cost_model(kernel=1e-3):   every kernel takes a millisecond at least
sim.sleep(0.01)                     a kernel that does nothing for 10 ms
"""

import time as _time
from contextlib import contextmanager as _contextmanager

from .core.device import device as _device
from .memory import streams as _streams
from .memory.caching import OutOfMemoryError  # noqa: F401
from .memory.runtime import runtime_of as _runtime_of
from .memory.sim.cost import CostModel
from .memory.sim.cost import cost_model as _cost_model
from .memory.streams import AcceleratorError  # noqa: F401
from .ops.generators import sim_generator as _generator

_runtime = _runtime_of("sim")
default_generators = (_generator,)


# ---- the device --------------------------------------------------------------------------------------------


def is_available():
    """Whether the device can be used: always, except in a forked child of a process that has used it."""
    return not _runtime.is_forked


def is_initialized():
    """Whether the device has been used."""
    return _runtime.is_in_use


def init():
    """Nothing: the device sets itself up at its first use."""


def device_count():
    """How many simulated devices there are: one."""
    return 1


def current_device():
    """The index of the current device: 0, there is one."""
    return 0


def set_device(device):
    """Nothing: there is one device."""


def get_device_name(device=None):
    """What the device is called."""
    return "teachtorch simulated accelerator"


def mem_get_info(device=None):
    """(free, total) bytes of device memory that no segment of the allocator takes."""
    return _runtime.memory_info()


def set_memory_capacity(nbytes):
    """How much memory the device has. RuntimeError once it has been used: the memory is there then."""
    if _runtime._arena is not None:
        raise RuntimeError(
            "the memory of sim is set up at its first use; set its capacity before, or with "
            "TEACHTORCH_SIM_MEMORY"
        )
    _runtime.capacity = int(nbytes)


# ---- streams and events ------------------------------------------------------------------------------------


class Stream(_streams.Stream):
    """A queue of work on sim (as torch.cuda.Stream)."""

    device_type_of_class = "sim"


class Event(_streams.Event):
    """A point in a stream's work on sim (as torch.cuda.Event)."""

    device_type_of_class = "sim"

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        super().__init__(enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)


def current_stream(device=None):
    """The stream that operators of this thread are put into."""
    return Stream(stream_id=_streams.current_stream_id("sim"))


def default_stream(device=None):
    """The stream that operators are put into unless told otherwise."""
    return Stream(stream_id=0)


def set_stream(stream):
    """Make a stream the current one of this thread; None changes nothing."""
    if stream is not None:
        _streams.set_current_stream_id("sim", stream.stream_id)


@_contextmanager
def stream(stream):
    """A context in which `stream` is the current one; None changes nothing."""
    if stream is None:
        yield
    else:
        with stream:
            yield


def synchronize(device=None):
    """Block the host until all streams are done. AcceleratorError if a kernel failed."""
    _streams.synchronize("sim")


def stop():
    """End the streams' threads and drop what they have not begun; the next launch starts them anew."""
    _runtime.stop()


# ---- what a simulation allows ------------------------------------------------------------------------------


def set_launch_blocking(enabled):
    """Whether each launch waits for its kernel, as with SIM_LAUNCH_BLOCKING=1: errors then show where they arise."""
    _runtime.is_blocking = bool(enabled)


def get_launch_blocking():
    """Whether each launch waits for its kernel."""
    return _runtime.is_blocking


def cost_model(launch=0.0, kernel=0.0, bandwidth=None, copy_bandwidth=None):
    """A context in which launches, kernels and copies take at least as long as said; see memory/sim/cost.py.

    Args: `launch`, `kernel` in seconds; `bandwidth`, `copy_bandwidth` in bytes per second.
    """
    return _cost_model(_runtime, CostModel(launch, kernel, bandwidth, copy_bandwidth))


def sleep(seconds):
    """Put a kernel that does nothing for `seconds` into the current stream (as torch.cuda._sleep)."""
    _runtime.launch("sleep", _streams.current_stream_id("sim"), lambda: _time.sleep(seconds))


# ---- random numbers ----------------------------------------------------------------------------------------


def manual_seed(seed):
    """Seed the device's default generator."""
    _generator.manual_seed(seed)


manual_seed_all = manual_seed


def seed():
    """Seed the device's default generator from the operating system."""
    _generator.seed()


seed_all = seed


def initial_seed():
    """The seed of the device's default generator."""
    return _generator.initial_seed()


def get_rng_state(device="sim"):
    """The default generator's state: seed and offset, a uint8 tensor of 16 elements."""
    return _generator.get_state()


def set_rng_state(new_state, device="sim"):
    """Continue the default generator from a state."""
    _generator.set_state(new_state)


def __getattr__(name):
    """The memory functions, which sim shares with whatever accelerator is there."""
    from .accelerator import memory

    if not name.startswith("__") and hasattr(memory, name):
        return getattr(memory, name)
    raise AttributeError(f"module 'teachtorch.sim' has no attribute '{name}'")


device = _device("sim", 0)
