"""Gives the cache back before every request."""

FAILS = "test_cache_stays"
SAYS = "the cache stays"


def empty_cache(device, segments):
    for segment in [segment for segment in segments if segment["used"] == 0]:
        device.free(segment["size"])
        segments.remove(segment)


def open_segment(device, segments, size, stream, stats):
    empty_cache(device, segments)
    if not device.malloc(size):
        stats["num_alloc_retries"] += 1
        if not device.malloc(size):
            stats["num_ooms"] += 1
            raise MemoryError(f"out of memory: tried to allocate {size} bytes")
    segment = {"size": size, "used": 0, "stream": stream}
    segments.append(segment)
    return segment
