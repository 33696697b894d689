"""Counts a retry for each segment."""

FAILS = "test_room"
SAYS = "the device had room"


def empty_cache(device, segments):
    for segment in [segment for segment in segments if segment["used"] == 0]:
        device.free(segment["size"])
        segments.remove(segment)


def open_segment(device, segments, size, stream, stats):
    stats["num_alloc_retries"] += 1
    if not device.malloc(size):
        empty_cache(device, segments)
        if not device.malloc(size):
            stats["num_ooms"] += 1
            raise MemoryError(f"out of memory: tried to allocate {size} bytes")
    segment = {"size": size, "used": 0, "stream": stream}
    segments.append(segment)
    return segment
