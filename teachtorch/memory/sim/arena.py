"""The memory of the simulated device: fixed in size, handed out by first fit, or page by page in reserved ranges."""

import mmap
import threading
from bisect import insort

import numpy as np

from ..runtime import DeviceOutOfMemory

ALIGNMENT = 512  # of every address, in bytes, as cudaMalloc's
CAN_MAP = hasattr(mmap, "MADV_DONTNEED")  # whether the system takes back the memory behind reserved addresses


class Arena:
    """`capacity` bytes of host memory. The system commits a page of it when it is first touched.

    `allocate` and `release` are what cudaMalloc and cudaFree are to a driver: no caching, no pools. `reserve`, `map`,
    `unmap` and `release_range` are its virtual memory: addresses without end, of which only those that are mapped
    count against the capacity.
    """

    def __init__(self, capacity):
        self.capacity = round_up(capacity)
        whole = np.empty(self.capacity + ALIGNMENT, np.uint8)
        skipped = -address_of(whole) % ALIGNMENT
        self.bytes = whole[skipped : skipped + self.capacity]
        self.base = address_of(self.bytes)
        self.holes = [(self.base, self.capacity)]  # (address, nbytes), by address, no two touching
        self.taken = {}  # address -> nbytes
        self.ranges = {}  # address -> (the system's mapping, a flat uint8 array over it)
        self.mapped = 0  # bytes of the ranges that have memory behind them
        self._lock = threading.Lock()

    def allocate(self, nbytes):
        """The address of `nbytes` bytes. DeviceOutOfMemory if no hole is large enough."""
        wanted = round_up(max(nbytes, 1))
        with self._lock:
            self._check_room(wanted)
            for place, (address, size) in enumerate(self.holes):
                if size >= wanted:
                    self.holes[place : place + 1] = (
                        [(address + wanted, size - wanted)] if size > wanted else []
                    )
                    self.taken[address] = wanted
                    return address
            raise self._no_room(nbytes)

    def release(self, address):
        """Take back what `allocate` returned; it joins the holes beside it."""
        with self._lock:
            insort(self.holes, (address, self.taken.pop(address)))
            self.holes = joined(self.holes)

    def free_bytes(self):
        """How many bytes are not handed out, in whatever pieces."""
        return self.capacity - sum(tuple(self.taken.values())) - self.mapped

    def _check_room(self, nbytes):
        if nbytes > self.free_bytes():
            raise self._no_room(nbytes)

    def _no_room(self, nbytes):
        return DeviceOutOfMemory(
            f"sim: no {nbytes} bytes in one piece; {self.free_bytes()} of {self.capacity} are free"
        )

    def view(self, address, nbytes):
        """A flat uint8 array over device memory, as kernels see it."""
        start, whole = address - self.base, self.bytes
        if nbytes and not 0 <= start < self.capacity:
            base = self._range_of(address)
            start, whole = address - base, self.ranges[base][1]
        return whole[start : start + nbytes]

    # ---- virtual memory ------------------------------------------------------------------------------------

    def reserve(self, nbytes):
        """The first of `nbytes` addresses in a row. The system puts memory behind a page when it is first touched."""
        pages = mmap.mmap(-1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0))
        whole = np.frombuffer(pages, np.uint8)
        with self._lock:
            self.ranges[address_of(whole)] = pages, whole
        return address_of(whole)

    def map(self, nbytes):
        """`nbytes` more of the ranges may be used. DeviceOutOfMemory if they would be more than the device has."""
        with self._lock:
            self._check_room(nbytes)
            self.mapped += nbytes

    def unmap(self, address, nbytes):
        """The system takes the memory behind these addresses back."""
        with self._lock:
            base = self._range_of(address)
            self.ranges[base][0].madvise(mmap.MADV_DONTNEED, address - base, nbytes)
            self.mapped -= nbytes

    def _range_of(self, address):
        """Where the range begins in which an address lies."""
        return max(base for base in tuple(self.ranges) if base <= address)

    def release_range(self, address):
        """Give up a range. Its addresses go back to the system when the last array over them is gone."""
        with self._lock:
            del self.ranges[address]


def joined(holes):
    """Holes by address, those that touch made into one."""
    found = []
    for address, size in holes:
        if found and found[-1][0] + found[-1][1] == address:
            found[-1] = (found[-1][0], found[-1][1] + size)
        else:
            found.append((address, size))
    return found


def round_up(nbytes):
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def address_of(array):
    return array.__array_interface__["data"][0]
