"""`OutOfMemoryError`, with PyTorch's sentence and the numbers that explain it."""

from .sizes import format_size

ADVICE = (
    " If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to"
    " avoid fragmentation.  See documentation for Memory Management "
    " (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
)


class OutOfMemoryError(RuntimeError):
    """The device has no room, after every attempt to make some. The allocator stays usable."""


OutOfMemoryError.__module__ = "teachtorch"  # where users find it, as in PyTorch


def out_of_memory(device_type, device_index, tried, free, total, allowed, allocated, reserved):
    """The error for a failed allocation; all sizes in bytes.

    `tried` is the segment that the device was asked for, not the request: what could not be had. `allowed` is
    the cap of set_per_process_memory_fraction, None without one.
    """
    cap = "" if allowed is None else f"{format_size(allowed)} allowed; "
    return OutOfMemoryError(
        f"{device_type.upper()} out of memory. Tried to allocate {format_size(tried)}. "
        f"GPU {device_index} has a total capacity of {format_size(total)} of which "
        f"{format_size(free)} is free. "
        f"Including non-PyTorch memory, this process has {format_size(total - free)} memory in use. {cap}"
        f"Of the allocated memory {format_size(allocated)} is allocated by PyTorch, and "
        f"{format_size(reserved - allocated)} is reserved by PyTorch but unallocated." + ADVICE
    )
