"""Memory of the accelerator: what torch.accelerator.memory and torch.cuda.memory say and do.

Every function takes `device`: a device, a string, an index, or None for the accelerator that is there. While the
device has not been used there is no allocator, and all counts are 0.
https://pytorch.org/docs/stable/torch_cuda_memory.html
"""

import pickle
import sys
from collections import OrderedDict

from ..memory import streams as _streams
from ..memory.caching import allocator_of, allocators, parse_alloc_conf
from ..memory.caching.counters import flatten
from ..memory.runtime import runtime_of
from .memory_summary import summary


def _device_of(device):
    if device is None or isinstance(device, int):
        return _streams.as_device(f"{_streams.accelerator_type()}:{device or 0}")
    return _streams.accelerator_of(device)


def _allocator(device):
    """The allocator of a device; it is made if the device has not been used yet."""
    found = _device_of(device)
    runtime_of(found.type).allocator
    return allocator_of(found)


def _allocator_if_used(device):
    found = _device_of(device)
    return next((one for one in allocators(found.type) if one.device_index == (found.index or 0)), None)


# ---- counters ----------------------------------------------------------------------------------------------


def memory_stats_as_nested_dict(device=None):
    """The counters of the allocator: {family: {group: {"current", "peak", "allocated", "freed"}}}; {} before
    its use.
    """
    allocator = _allocator_if_used(device)
    return {} if allocator is None else allocator.memory_stats_as_nested_dict()


def memory_stats(device=None):
    """The counters under flat keys such as "allocated_bytes.all.peak", sorted; empty before the device's first use.

    The first family is `allocation`, whatever PyTorch's docstring says.
    """
    return flatten(memory_stats_as_nested_dict(device)) or OrderedDict()


def memory_allocated(device=None):
    """Bytes in blocks that tensors occupy, as rounded by the allocator."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device=None):
    """The most that memory_allocated was since the program began, or since reset_peak_memory_stats."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device=None):
    """Bytes in segments that the allocator holds: allocated ones, cached ones and those lost between blocks."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device=None):
    """The most that memory_reserved was since the program began, or since reset_peak_memory_stats."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device=None):
    """Let every peak start again from the current value."""
    allocator = _allocator_if_used(device)
    if allocator is not None:
        allocator.reset_peak_memory_stats()


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def reset_accumulated_memory_stats(device=None):
    """Let what was ever allocated and freed, retries and OOMs be counted from 0 again."""
    allocator = _allocator_if_used(device)
    if allocator is not None:
        allocator.reset_accumulated_memory_stats()


def memory_summary(device=None, abbreviated=False):
    """The counters as a table for people. `abbreviated`: without the rows of the two pools."""
    found = _device_of(device)
    return summary(flatten(_allocator(device).memory_stats_as_nested_dict()), found.index or 0, abbreviated)


# ---- the device's memory -----------------------------------------------------------------------------------


def mem_get_info(device=None):
    """(free, total) bytes of the device. What the allocator has cached is not free for the device."""
    return runtime_of(_device_of(device).type).memory_info()


get_memory_info = mem_get_info


def empty_cache():
    """Give every segment without a live block back to the device.

    teachtorch itself gets no more memory by it: a malloc that finds no room does the same. Other programs do.
    """
    for allocator in allocators(_streams.accelerator_type()):
        allocator.empty_cache()


def empty_host_cache():
    """Nothing: pinned host memory is not cached here."""


def set_per_process_memory_fraction(fraction, device=None):
    """Never reserve more than this share of the device's memory: beyond it is out of memory.

    Args: `fraction`, a float from 0.0 to 1.0. TypeError, ValueError for anything else, as in PyTorch.
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if fraction < 0 or fraction > 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _allocator(device).set_memory_fraction(fraction)


def get_per_process_memory_fraction(device=None):
    """What set_per_process_memory_fraction set; 1.0 before."""
    return _allocator(device).memory_fraction


def get_allocator_backend():
    """Which allocator is at work: PyTorch's name for this one is "native"."""
    return "native"


def _set_allocator_settings(env):
    """Follow a string as PYTORCH_ALLOC_CONF holds it from now on. ValueError for what is not allowed."""
    settings = parse_alloc_conf(env)
    _allocator(None)
    for allocator in allocators(_streams.accelerator_type()):
        allocator.apply_settings(settings)


# ---- memory without a tensor -------------------------------------------------------------------------------


def caching_allocator_alloc(size, device=None, stream=None):
    """The address of `size` bytes from the allocator, for other libraries; 0 for no bytes.

    Args: `stream`, a Stream or its number; None is the current one. TypeError for anything else.
    """
    found = _device_of(device)
    if stream is None:
        stream = _streams.current_stream_id(found.type)
    stream = getattr(stream, "stream_id", stream)
    if not isinstance(stream, int):
        raise TypeError(
            "Invalid type for stream argument, must be `torch.cuda.Stream` or `int` representing a "
            "pointer to an existing stream"
        )
    return _allocator(found).malloc(size, stream).address if size else 0


def caching_allocator_delete(mem_ptr):
    """Give back what caching_allocator_alloc returned. RuntimeError for an address that is not a live block's."""
    if mem_ptr == 0:
        return
    for allocator in allocators(_streams.accelerator_type()):
        if mem_ptr in allocator.live:
            return allocator.free(allocator.live[mem_ptr])
    raise RuntimeError(f"invalid device pointer: {mem_ptr:#x}")


# ---- snapshots and history ---------------------------------------------------------------------------------


def memory_snapshot(mempool_id=None, include_traces=True):
    """The segments of all devices and their blocks, as a list of dictionaries (torch.cuda.memory_snapshot)."""
    return _snapshot()["segments"]


def _snapshot(device=None, augment_with_fx_traces=False):
    """Everything the allocators know, as plain dictionaries; the shape is that of torch.cuda.memory._snapshot.

    {"segments": [...], "device_traces": [[entry, ...] per device], "allocator_settings",
    "external_annotations"}
    """
    _allocator(device)
    parts = [one.snapshot() for one in allocators(_streams.accelerator_type())]
    traces = [[] for _ in range(max(len(part["device_traces"]) for part in parts))]
    for part in parts:
        traces[len(part["device_traces"]) - 1] = part["device_traces"][-1]
    return {
        "segments": [segment for part in parts for segment in part["segments"]],
        "device_traces": traces,
        "allocator_settings": parts[0]["allocator_settings"],
        "external_annotations": [],
    }


def _dump_snapshot(filename="dump_snapshot.pickle", augment_with_fx_traces=False):
    """Write _snapshot() to a file that pytorch.org/memory_viz, torch/cuda/_memory_viz.py and viz.memory open."""
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(), file, protocol=4)  # the newest protocol that the web page reads


def _record_memory_history(
    enabled="all",
    context="all",
    stacks="all",
    max_entries=sys.maxsize,
    device=None,
    clear_history=False,
    compile_context=False,
    global_record_annotations=False,
    skip_actions=None,
):
    """Record from now on what the allocators do, and the Python stacks of it; None stops and forgets.

    Args: `enabled`: None, "state" (the stacks of live blocks) or "all" (every action too). `context`: the
    stacks to take, None, "state", "alloc" or "all". `stacks`: accepted; there are no C++ frames here.
    `max_entries`: the newest so many are kept. `skip_actions`: actions not to keep. ValueError for other
    choices.
    """
    _allocator(device)
    for allocator in allocators(_streams.accelerator_type()):
        allocator.record_history(enabled, context, stacks, max_entries, clear_history, skip_actions)
