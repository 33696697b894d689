"""Tensors of a device whose memory the host cannot see, and their twins on the host: what copies go through."""

import numpy as np

from ..core import geometry
from ..core.device import CPU
from ..memory.runtime import runtime_of
from ..memory.storage import UntypedStorage
from ..memory.streams import current_stream_id, synchronize_current_stream
from ..tensor import array_of, from_geometry
from .convert import cast


def spanned(t):
    """(address, number of bytes) of the memory between a device tensor's first and last element."""
    itemsize = t._dtype.itemsize
    return t._storage.address() + t._offset * itemsize, geometry.storage_extent(t._shape, t._stride, 0) * itemsize


def uninitialised_twin(t):
    """A CPU tensor with a device tensor's sizes and strides over memory of its own."""
    storage = UntypedStorage(np.empty(spanned(t)[1], np.uint8), CPU)
    return from_geometry(storage, t._shape, t._stride, 0, t._dtype)


def twin_of(t):
    """A CPU tensor with a device tensor's elements, sizes and strides; the host waits for the current stream."""
    address, nbytes = spanned(t)
    found = runtime_of(t._device.type).read(address, nbytes, current_stream_id(t._device.type))
    return from_geometry(UntypedStorage(found, CPU), t._shape, t._stride, 0, t._dtype)


def send(t, twin):
    """Fill the memory that a device tensor spans with its twin's; the host waits for it."""
    runtime, stream_id = runtime_of(t._device.type), current_stream_id(t._device.type)
    runtime.copy_to_device(spanned(t)[0], twin._storage.buffer, stream_id)
    runtime.stream_synchronize(stream_id)


def is_plain(host, t):
    """Whether a CPU tensor's bytes are a device tensor's, one after the other."""
    return host._dtype is t._dtype and array_of(host).flags.c_contiguous and t.is_contiguous()


def upload_staged(target, source, is_async):
    """Copy a CPU tensor into a device tensor. `is_async`: the host does not wait, and its memory is pinned."""
    if is_async and is_plain(source, target):
        runtime = runtime_of(target._device.type)
        runtime.copy_to_device(spanned(target)[0], flat_bytes(source), current_stream_id(target._device.type))
        return
    covers_all = target.numel() * target._dtype.itemsize == spanned(target)[1]
    twin = uninitialised_twin(target) if covers_all else twin_of(target)
    np.copyto(array_of(twin), cast(array_of(source), target._dtype))
    send(target, twin)


def download_staged(target, source, is_async):
    """Copy a device tensor into a CPU tensor. `is_async`: the host does not wait, and its memory is pinned."""
    if is_plain(target, source):
        runtime, stream_id = runtime_of(source._device.type), current_stream_id(source._device.type)
        runtime.copy_to_host(spanned(source)[0], flat_bytes(target), stream_id)
        if not is_async:
            synchronize_current_stream(source._device.type)
        return
    np.copyto(array_of(target), cast(array_of(twin_of(source)), target._dtype))


def flat_bytes(host):
    return array_of(host).reshape(-1).view(np.uint8)
