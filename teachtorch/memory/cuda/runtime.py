"""The device `cuda`: its memory, streams and events behind the interface of memory/runtime.py.

The host's copies of the bytes are made here; what kernels do with them is in kernels/cuda and ops/on_cuda.
"""

from time import perf_counter

import numpy as np

from ...core import observer
from ..launch import Launch
from ..pooled_runtime import PooledRuntime
from ..runtime import register_runtime
from ..streams import AcceleratorError, declare_available
from . import is_simulated
from .driver import Hardware, Simulator

BAD_INDEX = (
    "CUDA error: device-side assert triggered: an index was out of bounds in a kernel that was launched "
    "before this call. The result of that kernel is not to be used."
)


class NoCost:
    """As sim's cost model, of a device that takes as long as it takes."""

    slows_kernels = False


class Mark:
    """A point in a stream's work, recorded as an event of the driver."""

    def __init__(self, runtime, stream_id):
        self.runtime, self.event = runtime, runtime.driver.event()
        self.event.record(runtime.stream(stream_id))

    def query(self):
        """Whether the stream has come here."""
        return self.runtime.driver.is_done(self.event)

    def synchronize(self):
        """Block this thread until the stream has come here."""
        self.event.synchronize()
        self.runtime.raise_error()


class CudaRuntime(PooledRuntime):
    """The GPU, or Numba's simulator of one. Nothing is set up before its first use."""

    device_type = "cuda"
    host_sees_memory = False
    is_forked = False
    cost = NoCost()

    def __init__(self):
        super().__init__()
        self._driver = None
        self._streams = {}

    @property
    def driver(self):
        """The GPU's driver, or the simulator's, made at the first use."""
        if self._driver is None:
            with self._lock:
                self._driver = self._driver or (Simulator() if is_simulated() else Hardware())
                self.is_in_use = True
        return self._driver

    # ---- memory --------------------------------------------------------------------------------------------

    def device_malloc(self, nbytes):
        return self.driver.allocate(nbytes)

    def device_free(self, address):
        self.driver.synchronize()
        self.driver.release(address)

    def memory_info(self):
        return self.driver.memory_info()

    def view(self, address, nbytes):
        """A flat uint8 array over device memory, which the host cannot look into."""
        return self.driver.array(address, nbytes, np.uint8)

    def array(self, address, size, dtype):
        """A flat device array over device memory: what copies take, and kernels may."""
        return self.driver.array(address, size, dtype)

    def flat(self, address, size, dtype):
        """Flat device memory: what kernels take."""
        return self.driver.flat(address, size, dtype)

    def pinned(self, nbytes):
        """Page-locked memory of the host, a flat uint8 array, which copies can reach without the host's help."""
        return self.driver.pinned(nbytes)

    def copy_to_host(self, address, host, stream_id):
        """Put a copy of device bytes into `host`, a flat uint8 array, into a stream."""
        if host.nbytes:
            self.view(address, host.nbytes).copy_to_host(host, stream=self.stream(stream_id))

    def copy_to_device(self, address, host, stream_id):
        """Put a copy of `host`, a flat uint8 array that must not change until then, into a stream."""
        if host.nbytes:
            self.view(address, host.nbytes).copy_to_device(host, stream=self.stream(stream_id))

    def read(self, address, nbytes, stream_id):
        """The bytes as the host sees them once the stream is done: a flat uint8 array."""
        host = np.empty(nbytes, np.uint8)
        self.copy_to_host(address, host, stream_id)
        self.stream_synchronize(stream_id)
        return host

    def copy(self, target, source, nbytes, stream_id):
        """Copy within the device, by addresses."""
        self.view(target, nbytes).copy_to_device(self.view(source, nbytes), stream=self.stream(stream_id))

    # ---- streams -------------------------------------------------------------------------------------------

    def stream(self, stream_id):
        """Numba's stream of a number."""
        if stream_id not in self._streams:
            from numba import cuda

            is_default = stream_id == 0 and not is_simulated()
            made = cuda.default_stream if is_default else lambda: self.driver.stream(self.priority_of(stream_id))
            self._streams[stream_id] = made()
        return self._streams[stream_id]

    def launch(self, name, stream_id, work, reads=(), writes=(), is_copy=False):
        """Let the stream call a Python function when it comes to it."""
        self.enqueue(name, stream_id, lambda stream: self.driver.call_in_stream(stream, work), reads, writes, is_copy)

    def enqueue(self, name, stream_id, work, reads=(), writes=(), is_copy=False):
        """Call `work(stream)`, which puts kernels or copies into Numba's stream and returns at once."""
        begin = perf_counter()
        stream = self.stream(stream_id)
        if observer.active:
            launch = Launch(self, name, stream_id, work, reads, writes, is_copy)
            work(stream)
            observer.report("stream", action="launch", launch=launch, begin=begin, time=perf_counter())
        else:
            work(stream)

    def record_event(self, stream_id):
        return Mark(self, stream_id)

    def wait_event(self, stream_id, mark):
        """Work that is put into the stream from now on waits for the mark."""
        mark.event.wait(self.stream(stream_id))

    def stream_query(self, stream_id):
        """Whether all work of the stream is done."""
        return self.record_event(stream_id).query()

    def stream_synchronize(self, stream_id):
        self.stream(stream_id).synchronize()
        self.raise_error()

    def synchronize(self):
        self.driver.synchronize()
        self.raise_error()

    def seconds_between(self, start, end):
        return self.driver.milliseconds_between(start.event, end.event) / 1e3

    # ---- errors --------------------------------------------------------------------------------------------

    @property
    def bad_index(self):
        """One int32 of device memory that kernels set where an index is out of bounds."""
        if not hasattr(self, "_bad_index"):
            self._bad_index = self.driver.flag()
        return self._bad_index

    def raise_error(self):
        """AcceleratorError if a kernel met an index out of bounds since the last time."""
        if hasattr(self, "_bad_index") and self._bad_index.copy_to_host()[0]:
            self._bad_index.copy_to_device(np.zeros(1, np.int32))
            raise AcceleratorError(BAD_INDEX)


runtime = CudaRuntime()
register_runtime(runtime)
if not is_simulated():
    declare_available("cuda")  # the accelerator of this machine; the simulator is nobody's choice but the user's
