"""The simulated device: its memory, its streams and its errors, behind the interface of memory/runtime.py."""

import atexit
import os
import traceback
from collections import deque
from time import perf_counter

from ...core import observer
from ..launch import Launch, shown_site
from ..pooled_runtime import PooledRuntime
from ..runtime import register_runtime
from ..streams import AcceleratorError, declare_available
from .arena import CAN_MAP, Arena
from .cost import CostModel
from .queue import Queue

CAPACITY = 256 << 20  # bytes, unless TEACHTORCH_SIM_MEMORY says otherwise
PATIENCE_AT_EXIT = 2.0  # seconds that a stream may take for what it is at when the program ends

FORKED = (
    "Cannot re-initialize sim in forked subprocess. To use sim with multiprocessing, you must use the 'spawn' start "
    "method"
)


class SimRuntime(PooledRuntime):
    """One simulated device. Nothing is set up before its first use.

    `capacity`: bytes of device memory. `cost`: a CostModel. `is_blocking`: whether each launch waits for its
    kernel (SIM_LAUNCH_BLOCKING=1), so that errors show where they arise.
    """

    device_type = "sim"
    can_map = CAN_MAP

    def __init__(self, capacity=None):
        super().__init__()
        self.capacity = capacity or int(os.environ.get("TEACHTORCH_SIM_MEMORY") or CAPACITY)
        self.cost = CostModel()
        self.is_blocking = os.environ.get("SIM_LAUNCH_BLOCKING", "0") not in ("", "0")
        self.is_forked = False
        self.queues = {0: Queue("sim-stream-0", self.note_error)}
        self.errors = deque()  # (launch, exception) that no synchronisation has raised yet
        self._arena = None

    # ---- memory --------------------------------------------------------------------------------------------

    @property
    def arena(self):
        """The device's memory, made at its first use."""
        if self._arena is None:
            with self._lock:
                self._arena = self._arena or Arena(self.capacity)
        return self._arena

    def device_malloc(self, nbytes):
        return self.arena.allocate(nbytes)

    def device_free(self, address):
        self.wait_for_queues()  # as cudaFree does: somebody may still use it
        self.arena.release(address)

    def reserve_addresses(self, nbytes):
        return self.arena.reserve(nbytes)

    def map_memory(self, address, nbytes):
        self.arena.map(nbytes)

    def unmap_memory(self, address, nbytes):
        self.wait_for_queues()  # somebody may still use it
        self.arena.unmap(address, nbytes)

    def release_addresses(self, address, nbytes):
        self.arena.release_range(address)

    def memory_info(self):
        return self.arena.free_bytes(), self.arena.capacity

    def view(self, address, nbytes):
        """A flat uint8 array over device memory. Only kernels, and the host after it has waited, should look at it."""
        return self.arena.view(address, nbytes)

    # ---- streams -------------------------------------------------------------------------------------------

    def new_stream(self, priority=0):
        """The number of a stream, which has a queue from now on."""
        stream_id = super().new_stream(priority)
        with self._lock:
            if stream_id not in self.queues:
                self.queues[stream_id] = Queue(f"sim-stream-{stream_id}", self.note_error)
        return stream_id

    def launch(self, name, stream_id, work, reads=(), writes=(), is_copy=False):
        """Put `work()` into a stream and return at once. The rest describes it: see Launch."""
        begin = perf_counter()
        self.is_in_use = True
        if self.is_forked:
            raise RuntimeError(FORKED)
        launch = Launch(self, name, stream_id, work, reads, writes, is_copy)
        if self.cost.launch:
            self.cost.wait_for_launch(begin)
        if observer.active:
            observer.report("stream", action="launch", launch=launch, begin=begin, time=perf_counter())
        self.queues[stream_id].put(launch)
        if self.is_blocking:
            self.stream_synchronize(stream_id)
        return launch

    def record_event(self, stream_id):
        return self.queues[stream_id].mark(self.raise_error)

    def wait_event(self, stream_id, mark):
        """Work that is put into the stream from now on waits for the mark."""
        if not mark.query():
            self.queues[stream_id].put(mark.wait)

    def stream_query(self, stream_id):
        """Whether all work of the stream is done."""
        return self.queues[stream_id].is_idle()

    def stream_synchronize(self, stream_id):
        """Wait for the work of one stream, and raise what went wrong on the device."""
        self.queues[stream_id].wait()
        self.raise_error()

    def synchronize(self):
        self.wait_for_queues()
        self.raise_error()

    def wait_for_queues(self):
        for queue in tuple(self.queues.values()):
            queue.wait()

    def seconds_between(self, start, end):
        """The time between two marks, both done."""
        return end.time - start.time

    # ---- errors --------------------------------------------------------------------------------------------

    def note_error(self, task, error):
        """A kernel failed, in its stream's thread: keep it for the next synchronisation."""
        self.errors.append((task, error))

    def raise_error(self):
        """AcceleratorError for the first kernel that failed since the last one was raised; the later ones go
        with it.
        """
        if not self.errors:
            return
        launch, error = self.errors.popleft()
        self.errors.clear()
        raise AcceleratorError(described(launch, error)) from error

    # ---- the end -------------------------------------------------------------------------------------------

    def stop(self, patience=None):
        """End all threads. Work that has not begun is dropped; the next launch starts a thread anew.

        `patience`: seconds to wait for what each stream is at, in case it never ends.
        """
        for queue in tuple(self.queues.values()):
            queue.stop(patience)

    def after_fork(self):
        """In a forked child: the threads and what they were about to do stayed with the parent."""
        self.is_forked = self.is_in_use
        for queue in self.queues.values():
            queue.forget_thread()


def described(launch, error):
    """The message for a kernel's error, which says where it was launched."""
    if isinstance(launch, Launch):
        where = f"in {launch.name}, launched at {shown_site(launch.site)}, in stream {launch.stream_id}"
    else:
        where = "in a stream's task"
    said = "".join(traceback.format_exception_only(error)).strip()
    return (
        f"sim error: {said}\n  {where}.\nKernel errors on sim are reported at a later synchronisation, so the stacktrace "
        "above is not where it arose. For debugging consider SIM_LAUNCH_BLOCKING=1."
    )


runtime = SimRuntime()
register_runtime(runtime)
declare_available("sim")
atexit.register(runtime.stop, PATIENCE_AT_EXIT)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=runtime.after_fork)
