"""Grades read_snapshot.py."""

from exercises.grading import equal, points

SIZE = 4096


def entry(action, addr, size):
    return {"action": action, "addr": addr, "size": size}


def alloc(addr, size):
    return entry("alloc", addr, size)


def free(addr, size):
    return [entry("free_requested", addr, size), entry("free_completed", addr, size)]


OPENED = entry("segment_alloc", 0, SIZE)


@points(1, "an empty segment is one free block")
def test_empty(yours):
    equal(yours.layout([OPENED], 0, SIZE), [(0, SIZE, "free")], "nothing was allocated yet")


@points(1, "every byte is in one entry")
def test_tiles(yours):
    trace = [OPENED, alloc(0, 512), alloc(512, 1024), alloc(1536, 512), *free(512, 1024)]
    expected = [(0, 512, "used"), (512, 1024, "free"), (1536, 512, "used"), (2048, 2048, "free")]
    equal(yours.layout(trace, 0, SIZE), expected, "every byte of the segment is in one entry, free ones too")


@points(1, "free blocks side by side are one")
def test_merged(yours):
    trace = [OPENED, alloc(0, 512), alloc(512, 1024), *free(0, 512), *free(512, 1024)]
    equal(yours.layout(trace, 0, SIZE), [(0, SIZE, "free")], "everything was given back")


@points(1, "a block that waits")
def test_waiting(yours):
    trace = [OPENED, alloc(0, SIZE), entry("free_requested", 0, SIZE)]
    equal(yours.layout(trace, 0, SIZE), [(0, SIZE, "waiting")], "it is not free before free_completed")


@points(1, "by address")
def test_order(yours):
    trace = [OPENED, alloc(0, 2048), alloc(2048, 2048), *free(0, 2048), alloc(0, 2048)]
    expected = [(0, 2048, "used"), (2048, 2048, "used")]
    equal(
        yours.layout(trace, 0, SIZE), expected, "by address: the one at 0 was allocated last, and lies first"
    )


@points(1, "only the blocks of this segment")
def test_other_segments(yours):
    trace = [OPENED, entry("segment_alloc", 8192, SIZE), alloc(8192, SIZE), alloc(0, SIZE)]
    equal(yours.layout(trace, 0, SIZE), [(0, SIZE, "used")], "the block at 8192 lies in another segment")
    equal(yours.layout(trace, 8192, SIZE), [(8192, SIZE, "used")], "the segment at 8192")


@points(1, "allocated and reserved over time")
def test_timeline(yours):
    trace = [
        OPENED,
        alloc(0, 512),
        alloc(512, 1024),
        *free(0, 512),
        *free(512, 1024),
        entry("segment_free", 0, SIZE),
    ]
    expected = [
        (0, 4096),
        (512, 4096),
        (1536, 4096),
        (1024, 4096),
        (1024, 4096),
        (0, 4096),
        (0, 4096),
        (0, 0),
    ]
    equal(yours.timeline(trace), expected, "a pair after each entry")


@points(1, "a block that waits is not allocated")
def test_timeline_waiting(yours):
    trace = [OPENED, alloc(0, 512), entry("free_requested", 0, 512)]
    equal(
        yours.timeline(trace),
        [(0, 4096), (512, 4096), (0, 4096)],
        "a block is allocated until free_requested",
    )
