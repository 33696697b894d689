"""Out of memory: the cache goes back to the device, and the allocator asks once more.

The device has .malloc(size), which returns True, or False when it has no room, and .free(size). A cached
segment is a dict {"size": 20, "used": 4, "stream": 0}: "used" bytes of it are in live blocks.

When the device has no room the allocator

1. gives back every segment without a live block, of all streams, and counts a retry;
2. asks the device again;
3. if that fails, too, counts an OOM and raises MemoryError.

empty_cache() does step 1 alone. That is why it makes no more room for PyTorch itself: a request that needs
the room does it anyway.
"""


def empty_cache(device, segments):
    """Give every segment without a live block back to the device, and take it out of the list `segments`."""
    raise NotImplementedError


def open_segment(device, segments, size, stream, stats):
    """Get a segment of `size` bytes for `stream`: add it to `segments` with nothing used, and return it.

    stats: {"num_alloc_retries": 0, "num_ooms": 0}, counted up. MemoryError, with the size in its text,
    if there is no room even without the cache. `segments` always lists what the device has given.
    """
    raise NotImplementedError
