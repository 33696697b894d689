"""Microseconds of a malloc that the cache serves, and of its free: the goal is at most 5 each.

    PYTHONPATH=. python tests/benchmarks/bench_allocator.py

The runtime is the bookkeeping one of the tests, so that only the allocator is measured. Minimum over rounds.
"""

import time

from teachtorch.memory.caching import AllocatorSettings, CachingAllocator
from tests.memory.bookkeeping import BookkeepingRuntime

MIB = 2**20
CASES = {
    "512 B, split from a segment": 512,
    "3 MiB, a hole of just that size": 3 * MIB,
    "10 MiB, a whole segment": 10 * MIB,
}


def allocator_with_holes():
    """Two hundred live blocks with a hole after each second one."""
    allocator = CachingAllocator(BookkeepingRuntime(), settings=AllocatorSettings())
    blocks = [allocator.malloc(3 * MIB) for _ in range(200)]
    for block in blocks[::2]:
        allocator.free(block)
    allocator.free(allocator.malloc(10 * MIB))
    return allocator


def microseconds(allocator, nbytes, pairs=2000, rounds=15):
    """(malloc, free), the best of several rounds."""
    best = [float("inf")] * 2
    for _ in range(rounds):
        blocks = [allocator.malloc(nbytes) for _ in range(10)]
        spent = [0.0, 0.0]
        for _ in range(pairs // 10):
            start = time.perf_counter()
            for block in blocks:
                allocator.free(block)
            middle = time.perf_counter()
            blocks = [allocator.malloc(nbytes) for _ in range(10)]
            spent[0] += time.perf_counter() - middle
            spent[1] += middle - start
        for block in blocks:
            allocator.free(block)
        best = [min(a, b / pairs * 1e6) for a, b in zip(best, spent)]
    return best


if __name__ == "__main__":
    for name, nbytes in CASES.items():
        malloc, free = microseconds(allocator_with_holes(), nbytes)
        print(f"{name:35} malloc {malloc:5.2f} us   free {free:5.2f} us")
