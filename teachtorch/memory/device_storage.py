"""Storage on an accelerator: a block of the device's allocator, given back when the last tensor on it dies."""

import functools
from time import perf_counter

import numpy as np

from ..core import observer
from ..core.device import CPU
from .launch import calling_site
from .runtime import runtime_of
from .storage import UntypedStorage
from .streams import current_stream_id, synchronize_current_stream


class DeviceStorage(UntypedStorage):
    """`nbytes` bytes of an accelerator's memory, allocated for the current stream.

    `buffer`: a flat uint8 array over them, where the host can see them. `host`: the same bytes as a storage
    of the CPU: what kernels look at, None where the host cannot see the memory. Both say nothing of whether
    the device is done.
    """

    __slots__ = ("block", "host", "_runtime")

    def __init__(self, nbytes, device):
        self._runtime = runtime_of(device.type)
        self.block = None
        self.device, self._nbytes = device, nbytes
        self.is_resizable, self.is_pinned_memory, self.shared = True, False, None
        self._allocate(nbytes)

    def _allocate(self, nbytes):
        runtime = self._runtime
        self.block = block = take(runtime, nbytes) if nbytes else None
        self.buffer = runtime.view(0 if block is None else block.address, nbytes)
        self.host = None
        if runtime.host_sees_memory:
            self.host = UntypedStorage(self.buffer, CPU)
            self.host.is_resizable = False

    def __del__(self):
        block = getattr(self, "block", None)
        if block is not None:
            give_back(self._runtime, block, self._nbytes)

    def address(self):
        """Where the bytes are in device memory; 0 for none."""
        return 0 if self.block is None else self.block.address

    def record_stream(self, stream):
        """Keep the memory from being used again until the work that `stream` has by then is done."""
        if self.block is None:
            return
        self._runtime.allocator.record_stream(self.block, stream.stream_id)
        if observer.active:
            observer.report(
                "stream",
                action="record_stream",
                address=self.block.address,
                stream=stream.stream_id,
                site=calling_site(),
                time=perf_counter(),
            )

    def read(self):
        """The bytes as the host sees them once the current stream is done."""
        if not self._runtime.host_sees_memory:
            return self._runtime.read(self.address(), self._nbytes, current_stream_id(self.device.type))
        synchronize_current_stream(self.device.type)
        return self.buffer

    def write(self, data):
        """Fill the memory from a flat uint8 array of as many bytes, once the current stream is done."""
        runtime, stream_id, address = self._runtime, current_stream_id(self.device.type), self.address()
        if not self._nbytes:
            return
        if runtime.host_sees_memory:
            spans = [(address, address + self._nbytes)]
            copy = functools.partial(np.copyto, self.buffer, data)
            runtime.launch("memcpy HtoD (pageable)", stream_id, copy, writes=spans, is_copy=True)
        else:
            runtime.copy_to_device(address, data, stream_id)
        runtime.stream_synchronize(stream_id)

    def data_ptr(self):
        return self.address()

    def tolist(self):
        return self.read().tolist()

    def __getitem__(self, index):
        return self.read()[index].item()

    def clone(self):
        copy = DeviceStorage(self._nbytes, self.device)
        copy_bytes(self._runtime, self, copy, self._nbytes)
        return copy

    def __deepcopy__(self, memo):
        copy = memo[id(self)] = self.clone()
        return copy

    def __reduce__(self):
        """Pickle the bytes; they come back onto the same device."""
        return restored, (self.device, np.array(self.read()))

    def resize_(self, nbytes):
        old_block, old_nbytes, kept = self.block, self._nbytes, min(self._nbytes, nbytes)
        old = (self.address(), self.buffer)
        self._allocate(nbytes)
        self._nbytes = nbytes
        if kept:
            move_bytes(self._runtime, old[1][:kept], self.buffer[:kept], old[0], self.address())
        if old_block is not None:
            give_back(self._runtime, old_block, old_nbytes)
        return self


def restored(device, data):
    """The inverse of pickling."""
    storage = DeviceStorage(data.nbytes, device)
    storage.write(data)
    return storage


def copy_bytes(runtime, source, target, nbytes):
    if nbytes:
        move_bytes(
            runtime, source.buffer[:nbytes], target.buffer[:nbytes], source.address(), target.address()
        )


def move_bytes(runtime, source, target, source_address, target_address):
    """Launch a copy within the device."""
    if not runtime.host_sees_memory:
        runtime.copy(target_address, source_address, source.nbytes, current_stream_id(runtime.device_type))
        return

    def work():
        target[:] = source

    runtime.launch(
        "memcpy DtoD",
        current_stream_id(runtime.device_type),
        work,
        [(source_address, source_address + source.nbytes)],
        [(target_address, target_address + target.nbytes)],
    )


# ---- blocks ------------------------------------------------------------------------------------------------


def take(runtime, nbytes):
    """A block of the device's allocator, for use in the current stream."""
    stream_id = current_stream_id(runtime.device_type)
    block = runtime.allocator.malloc(nbytes, stream_id)
    if observer.active:
        report("alloc", block, nbytes, stream_id)
    return block


def give_back(runtime, block, nbytes):
    """The host does not use the block any more; work that is in its own stream may, and the next block there
    comes after.
    """
    if runtime.is_forked:
        return  # the memory is the parent's
    if observer.active:
        report("free", block, nbytes, block.stream)
    runtime.allocator.free(block)


def report(action, block, nbytes, stream_id):
    """Tell the observers that a block was taken or given back, and where in the program."""
    about = {"address": block.address, "nbytes": nbytes, "stream": stream_id}
    observer.report("stream", action=action, **about, site=calling_site(), time=perf_counter())
