"""Runtimes: what a type of device offers, and nothing more. All policy (caching, streams, versions) is above.

A device type joins by registering its runtime here, its kernels under its dispatch key, and nothing else.
https://pytorch.org/docs/stable/accelerator.html names the same operations.
"""
import numpy as np

_runtimes = {}                      # device type -> Runtime


class Runtime:
    """The interface of a device type.

    `malloc(nbytes)` returns a buffer of uninitialised bytes (a flat uint8 array where the host can see the memory),
    `free(buffer)` gives it back, `copy(destination, source)` moves bytes between two buffers of this device.
    Accelerators add streams and events: `launch`, `stream`, `event`.
    """

    device_type = None

    def malloc(self, nbytes):
        raise NotImplementedError

    def free(self, buffer):
        raise NotImplementedError

    def copy(self, destination, source):
        raise NotImplementedError


class DeviceOutOfMemory(RuntimeError):
    """A device has no room for what `device_malloc` or `map_memory` was asked for; the allocator tries to help."""


class AcceleratorRuntime(Runtime):
    """What the caching allocator (memory/caching) needs from a device: raw memory and events.

    One object stands for one device. Addresses are ints; a stream is named by an int, 0 for the default one. Nothing
    here caches, counts or rounds. `device_malloc` and `device_free` may wait for the device, as cudaMalloc does
    (paper section 5.3): this is why the allocator calls them rarely.
    """

    can_map = False                  # whether the four methods of virtual memory below work
    host_sees_memory = True          # whether `view(address, nbytes)` is an ndarray

    def device_malloc(self, nbytes):
        """The address of `nbytes` of fresh device memory. DeviceOutOfMemory when there is no room."""
        raise NotImplementedError

    def device_free(self, address):
        """Give back what `device_malloc` returned."""
        raise NotImplementedError

    def memory_info(self):
        """(free, total) bytes of the device."""
        raise NotImplementedError

    def pinned(self, nbytes):
        """Memory of the host, a flat uint8 array, which the device's copies reach while the host goes on."""
        return np.empty(nbytes, np.uint8)

    def record_event(self, stream_id):
        """Mark the work that stream has so far: an event with `query() -> bool` (is it done) and `synchronize()`."""
        raise NotImplementedError

    def synchronize(self):
        """Wait until all work of the device is done."""
        raise NotImplementedError

    def reserve_addresses(self, nbytes):
        """The first of `nbytes` addresses with no memory behind them."""
        raise NotImplementedError

    def map_memory(self, address, nbytes):
        """Put memory behind reserved addresses. DeviceOutOfMemory when there is no room."""
        raise NotImplementedError

    def unmap_memory(self, address, nbytes):
        """Take the memory behind these addresses away; they stay reserved."""
        raise NotImplementedError

    def release_addresses(self, address, nbytes):
        """Give up a range that `reserve_addresses` returned; nothing may be mapped there."""
        raise NotImplementedError


class CpuRuntime(Runtime):
    """Host memory, through NumPy: a buffer lives as long as somebody refers to it."""

    device_type = "cpu"

    def malloc(self, nbytes):
        try:
            return np.empty(nbytes, np.uint8)
        except MemoryError:
            raise out_of_memory(nbytes) from None

    def free(self, buffer):
        """Nothing to do: reference counting frees the array."""

    def copy(self, destination, source):
        np.copyto(destination, source)


class MetaRuntime(Runtime):
    """No memory at all: a storage on meta knows its size only."""

    device_type = "meta"

    def malloc(self, nbytes):
        return None

    def free(self, buffer):
        """There is nothing to free."""

    def copy(self, destination, source):
        """There is nothing to copy."""


def out_of_memory(nbytes):
    """The error, in PyTorch's words, for memory that the host could not give."""
    return RuntimeError(f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {nbytes} bytes. "
                        "Error code 12 (Cannot allocate memory)")


def register_runtime(runtime):
    """Make a device type known. ValueError if it is already."""
    if runtime.device_type in _runtimes:
        raise ValueError(f"device type {runtime.device_type!r} has a runtime already")
    _runtimes[runtime.device_type] = runtime


def is_there(device_type):
    """Whether a device type has a runtime by now."""
    return device_type in _runtimes


def _cuda_runtime():
    """The GPU's runtime, which joins when somebody first asks for it.

    AssertionError, as PyTorch's, if there is none.
    """
    from . import cuda

    if cuda.why_not() is not None:
        raise AssertionError(f"Torch not compiled with CUDA enabled: {cuda.why_not()}. Use device='cpu'.")
    from .cuda.runtime import runtime

    return runtime


def runtime_of(device_type):
    """The runtime of a device type. RuntimeError, in PyTorch's words where it has them, if there is none."""
    runtime = _runtimes.get(device_type)
    if runtime is None and device_type == "cuda":
        runtime = _cuda_runtime()
    if runtime is None:
        known = ", ".join(sorted(_runtimes))
        raise RuntimeError(f"teachtorch has no runtime for device type {device_type!r} yet; it has: {known}")
    return runtime


for _runtime in (CpuRuntime(), MetaRuntime()):
    register_runtime(_runtime)
