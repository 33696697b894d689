"""The accelerator that is there, whichever it is (torch.accelerator): a GPU if teachtorch can use one, else `sim`.

    streams and events      torch.Stream, torch.Event, current_stream, set_stream, synchronize
    memory                  memory_allocated, memory_stats, empty_cache, ...          memory.py
    races between streams   sanitizer()                                               races.py, clocks.py

https://pytorch.org/docs/stable/accelerator.html
"""

from ..core.device import device as _device
from ..memory import streams as _streams
from ..memory.runtime import runtime_of as _runtime_of

_FROM_MEMORY = (
    "empty_cache",
    "empty_host_cache",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
)


def is_available():
    """Whether there is an accelerator: always, since `sim` needs nothing."""
    return _streams.accelerator_type() is not None


def current_accelerator(check_available=False):
    """The accelerator's device, without an index. `check_available`: None if it cannot be used now."""
    return _device(_streams.accelerator_type())


def device_count():
    """How many devices of it there are."""
    return getattr(_runtime_of(_streams.accelerator_type()), "device_count", 1)


def current_device_index():
    """The index of the device that tensors without one go to."""
    return 0


def set_device_index(device, /):
    """Choose the device that tensors without an index go to. RuntimeError for one that is not there."""
    index = _index_of(device)
    if index is not None and not -1 < index < device_count():
        raise RuntimeError(f"invalid device ordinal: {index}; there are {device_count()}")


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index:
    """A context in which the device of that index is the current one; None changes nothing."""

    def __init__(self, device, /):
        self.idx = device

    def __enter__(self):
        if self.idx is not None:
            set_device_index(self.idx)

    def __exit__(self, *exc):
        return False


def _index_of(device):
    return device if device is None or isinstance(device, int) else _streams.accelerator_of(device).index


def _accelerator(device):
    """The accelerator's type, for a device or index that must be one of it."""
    if device is None or isinstance(device, int):
        set_device_index(device)
        return _streams.accelerator_type()
    return _streams.accelerator_of(device).type


def current_stream(device=None, /):
    """The stream that operators of this thread are put into."""
    kind = _accelerator(device)
    return _streams.Stream(kind, stream_id=_streams.current_stream_id(kind))


def set_stream(stream):
    """Make a stream the current one of this thread, until told otherwise. `with stream:` is usually better."""
    _streams.set_current_stream_id(stream.device.type, stream.stream_id)


def synchronize(device=None, /):
    """Block the host until all streams of the device are done. AcceleratorError if a kernel failed."""
    _streams.synchronize(_accelerator(device))


def get_device_capability(device=None, /):
    """What the device can do: {"supported_dtypes": {...}}."""
    from ..core import dtype as dtypes

    return {"supported_dtypes": set(dtypes.ALL)}


def sanitizer(on_error="raise"):
    """A context manager that finds races between streams; see races.py."""
    from .races import Sanitizer

    return Sanitizer(on_error)


def __getattr__(name):
    if name in _FROM_MEMORY:
        from . import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'teachtorch.accelerator' has no attribute '{name}'")
