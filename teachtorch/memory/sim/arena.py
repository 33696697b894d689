"""The memory of the simulated device: fixed in size, handed out by first fit."""

import threading
from bisect import insort

import numpy as np

from ..runtime import DeviceOutOfMemory

ALIGNMENT = 512  # of every address, in bytes, as cudaMalloc's


class Arena:
    """`capacity` bytes of host memory. The system commits a page of it when it is first touched.

    `allocate` and `release` are what cudaMalloc and cudaFree are to a driver: no caching, no pools.
    """

    def __init__(self, capacity):
        self.capacity = round_up(capacity)
        whole = np.empty(self.capacity + ALIGNMENT, np.uint8)
        skipped = -address_of(whole) % ALIGNMENT
        self.bytes = whole[skipped : skipped + self.capacity]
        self.base = address_of(self.bytes)
        self.holes = [(self.base, self.capacity)]  # (address, nbytes), by address, no two touching
        self.taken = {}  # address -> nbytes
        self._lock = threading.Lock()

    def allocate(self, nbytes):
        """The address of `nbytes` bytes. DeviceOutOfMemory if no hole is large enough."""
        wanted = round_up(max(nbytes, 1))
        with self._lock:
            for place, (address, size) in enumerate(self.holes):
                if size >= wanted:
                    self.holes[place : place + 1] = (
                        [(address + wanted, size - wanted)] if size > wanted else []
                    )
                    self.taken[address] = wanted
                    return address
        raise DeviceOutOfMemory(
            f"sim: no {nbytes} bytes in one piece; {self.free_bytes()} of {self.capacity} are free"
        )

    def release(self, address):
        """Take back what `allocate` returned; it joins the holes beside it."""
        with self._lock:
            insort(self.holes, (address, self.taken.pop(address)))
            self.holes = joined(self.holes)

    def free_bytes(self):
        """How many bytes are not handed out, in whatever pieces."""
        return self.capacity - sum(tuple(self.taken.values()))

    def view(self, address, nbytes):
        """A flat uint8 array over device memory, as kernels see it."""
        start = address - self.base
        return self.bytes[start : start + nbytes]


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
