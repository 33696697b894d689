"""What `sim` and `cuda` share: a caching allocator made at its first use, and streams that come from two pools."""

import threading

from .caching import CachingAllocator, register_allocator
from .runtime import AcceleratorRuntime

STREAMS_PER_POOL = 32  # c10/cuda/CUDAStream.cpp; the 33rd stream asked for is the 1st again


class PooledRuntime(AcceleratorRuntime):
    """A runtime with an allocator and numbered streams: 0 is the default one."""

    def __init__(self):
        self.is_in_use = False
        self._allocator = None
        self._lock = threading.RLock()
        self._asked_for = {0: 0, 1: 0}  # how many streams each pool was asked for

    @property
    def allocator(self):
        """The caching allocator of this device, made at its first use."""
        if self._allocator is None:
            with self._lock:
                self._allocator = self._allocator or CachingAllocator(self)
            register_allocator(self._allocator)
        return self._allocator

    def new_stream(self, priority=0):
        """The number of a stream: the next of its pool (1 ... 32, or 33 ... 64 for priorities below 0)."""
        pool = int(priority < 0)
        with self._lock:
            turn = self._asked_for[pool] % STREAMS_PER_POOL
            self._asked_for[pool] += 1
        return 1 + pool * STREAMS_PER_POOL + turn

    def priority_of(self, stream_id):
        """-1 for the streams of the second pool, which go first; else 0."""
        return -1 if stream_id > STREAMS_PER_POOL else 0
