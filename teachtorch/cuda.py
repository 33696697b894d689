"""torch.cuda on a machine without a GPU: scripts that ask first run on the CPU; those that do not are told.

There are no GPU kernels in teachtorch yet, so these are the answers of a CPU build of PyTorch.
https://pytorch.org/docs/stable/cuda.html
"""
from contextlib import nullcontext

from .tensor import method

NO_CUDA = "Torch not compiled with CUDA enabled: teachtorch has no GPU kernels yet. Use device='cpu'."


def is_available():
    """Whether there is a GPU that can be used: never, so far."""
    return False


is_initialized = is_available


def device_count():
    return 0


def _refuse(*args, **kwargs):
    raise AssertionError(NO_CUDA)


init = current_device = set_device = get_device_name = get_device_properties = _refuse
synchronize = current_stream = default_stream = set_stream = _refuse


class Stream:
    """A queue of work on a GPU; there is none, so it cannot be made."""

    def __init__(self, device=None, priority=0):
        _refuse()


class Event(Stream):
    """A mark in a Stream; cannot be made without a GPU."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        _refuse()


def stream(stream):
    """A context in which `stream` is current; None changes nothing."""
    return nullcontext() if stream is None else _refuse()


def _nothing_allocated(device=None):
    return 0


memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _nothing_allocated


def _nothing_to_do(*args, **kwargs):
    return None


empty_cache = reset_peak_memory_stats = reset_max_memory_allocated = _nothing_to_do
manual_seed = manual_seed_all = seed = seed_all = _nothing_to_do      # PyTorch too waits for a GPU to seed


def _to_cuda(self, device=None, non_blocking=False):
    """A copy of this tensor on a GPU: AssertionError, since there is none."""
    _refuse()


method(_to_cuda, "cuda")
