"""torch.cuda: the GPU through numba-cuda (`pip install teachtorch[cuda]`), or the answers of a CPU build of PyTorch.

Without a GPU, scripts that ask first run on the CPU; those that do not are told. With NUMBA_ENABLE_CUDASIM=1
the device is Numba's simulator: slow, for small tensors, and in need of nothing. It is all that this has been
run on. https://pytorch.org/docs/stable/cuda.html
"""

import warnings as _warnings
from contextlib import contextmanager as _contextmanager

from .core.device import device as _device
from .memory import cuda as _cuda
from .memory import streams as _streams
from .memory.caching import OutOfMemoryError  # noqa: F401
from .memory.runtime import runtime_of as _runtime_of
from .ops.transfer import to_accelerator as _to_accelerator

_MEMORY_OF_NO_GPU = {
    "memory_stats": {},
    "memory_allocated": 0,
    "max_memory_allocated": 0,
    "memory_reserved": 0,
    "max_memory_reserved": 0,
    "empty_cache": None,
    "reset_peak_memory_stats": None,
    "reset_max_memory_allocated": None,
}


def _runtime():
    """The device's runtime. AssertionError, as of a CPU build, if there is no GPU."""
    return _runtime_of("cuda")


# ---- the device --------------------------------------------------------------------------------------------


def is_available():
    """Whether there is a GPU that can be used, or Numba's simulator was asked for."""
    return _cuda.why_not() is None


def is_initialized():
    """Whether the device has been used."""
    return is_available() and _runtime().is_in_use


def init():
    """Set the device up; it does so itself at its first use."""
    _runtime().driver


def device_count():
    """How many GPUs there are: teachtorch uses one."""
    return int(is_available())


def current_device():
    """The index of the current device: 0."""
    _runtime()
    return 0


def set_device(device):
    """Nothing: there is one device. AssertionError if there is none."""
    _runtime()


def get_device_name(device=None):
    """What the GPU is called."""
    return _runtime().driver.name


def get_device_properties(device=None):
    """Numba's description of the GPU: its `name`, `compute_capability` and others."""
    _runtime()
    from numba import cuda

    return cuda.get_current_device()


def get_device_capability(device=None):
    """The GPU's compute capability: (major, minor)."""
    return tuple(get_device_properties(device).compute_capability)


def is_bf16_supported(including_emulation=True):
    """Whether the GPU computes in bfloat16: each does, old ones in float32."""
    return is_available() and (including_emulation or get_device_capability() >= (8, 0))


@_contextmanager
def device(device):
    """A context in which a device is the current one: there is one alone. A negative index and None change nothing."""
    if device is not None and (not isinstance(device, int) or device >= 0):
        set_device(device)
    yield


def device_of(obj):
    """`device` for where a tensor lies; nothing for one on the CPU."""
    return device(0 if obj.is_cuda else -1)


def mem_get_info(device=None):
    """(free, total) bytes of the device's memory."""
    return _runtime().memory_info()


# ---- streams and events ------------------------------------------------------------------------------------


class Stream(_streams.Stream):
    """A queue of work on the GPU (torch.cuda.Stream). AssertionError if there is none.

    Numba's streams wait for the default stream and it for them; PyTorch's side streams do not.
    """

    device_type_of_class = "cuda"


class Event(_streams.Event):
    """A point in a stream's work (torch.cuda.Event). In the simulator no time passes between two."""

    device_type_of_class = "cuda"

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        super().__init__(enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)


def current_stream(device=None):
    """The stream that operators of this thread are put into."""
    return Stream(stream_id=_streams.current_stream_id("cuda"))


def default_stream(device=None):
    """The stream that operators are put into unless told otherwise."""
    return Stream(stream_id=0)


def set_stream(stream):
    """Make a stream the current one of this thread; None changes nothing."""
    if stream is not None:
        _streams.set_current_stream_id("cuda", stream.stream_id)


@_contextmanager
def stream(stream):
    """A context in which `stream` is the current one; None changes nothing."""
    if stream is None:
        yield
    else:
        with stream:
            yield


def synchronize(device=None):
    """Block the host until all streams are done. AcceleratorError if a kernel met an index out of bounds."""
    _streams.synchronize("cuda")


# ---- random numbers ----------------------------------------------------------------------------------------


def manual_seed(seed):
    """Seed the device's default generator; nothing without a GPU, as PyTorch waits for one."""
    if is_available():
        _generator().manual_seed(int(seed))


def seed():
    """Seed the device's default generator from the operating system; nothing without a GPU."""
    if is_available():
        _generator().seed()


manual_seed_all, seed_all = manual_seed, seed


def initial_seed():
    """The seed of the device's default generator."""
    return _generator().initial_seed()


def get_rng_state(device="cuda"):
    """The default generator's state: seed and offset, a uint8 tensor of 16 elements."""
    return _generator().get_state()


def set_rng_state(new_state, device="cuda"):
    """Continue the default generator from a state."""
    _generator().set_state(new_state)


def get_rng_state_all():
    """The state of each GPU's default generator."""
    return [get_rng_state() for _ in range(device_count())]


def set_rng_state_all(new_states):
    """Continue each GPU's default generator from a state."""
    for state in new_states:
        set_rng_state(state)


def _generator():
    from .ops.generators import cuda_generator

    _runtime()
    return cuda_generator()


# ---- memory ------------------------------------------------------------------------------------------------


def _answer_of_no_gpu(name):
    """The memory function of that name, on a machine without a GPU."""
    def answer(device=None):
        return _MEMORY_OF_NO_GPU[name]

    answer.__name__ = answer.__qualname__ = name
    answer.__doc__ = "What PyTorch answers without a GPU: nothing is allocated."
    return answer


def memory_cached(device=None):
    """The older name of memory_reserved. FutureWarning."""
    return _under_a_newer_name("memory_cached", "memory_reserved", device)


def max_memory_cached(device=None):
    """The older name of max_memory_reserved. FutureWarning."""
    return _under_a_newer_name("max_memory_cached", "max_memory_reserved", device)


def _under_a_newer_name(old, new, device):
    message = f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new}`"
    _warnings.warn(message, FutureWarning, stacklevel=3)
    return __getattr__(new)(device)


def __getattr__(name):
    """The memory functions of whatever accelerator is there; here `device` is the GPU unless given."""
    if name in _MEMORY_OF_NO_GPU and not is_available():
        return _answer_of_no_gpu(name)
    from .accelerator import memory

    if name.startswith("__") or not hasattr(memory, name):
        raise AttributeError(f"module 'teachtorch.cuda' has no attribute '{name}'")
    return _on_the_gpu(getattr(memory, name))


def _on_the_gpu(function):
    """A function of `accelerator.memory` with the GPU as its default device."""
    import functools
    import inspect

    if not inspect.isfunction(function) or "device" not in inspect.signature(function).parameters:
        return function

    @functools.wraps(function)
    def on_the_gpu(*args, **kwargs):
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        if given.get("device") is None:
            _runtime()
            given["device"] = _device("cuda", 0)
        return function(**given)

    return on_the_gpu


_to_accelerator("cuda")
