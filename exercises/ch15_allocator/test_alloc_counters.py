"""Grades alloc_counters.py."""

from exercises.grading import equal, points


def counts(counters, *names):
    """Some of the counters; a missing key is an answer, too."""
    stats = counters.stats()
    return {name: stats.get(name) for name in names}


@points(1, "everything begins at 0")
def test_zero(yours):
    expected = {
        f"{name}.{what}": 0
        for name in ("requested", "allocated", "active", "reserved")
        for what in ("current", "peak")
    }
    equal(yours.Counters().stats(), expected, "nothing has happened yet", what="Counters().stats()")


@points(1, "blocks count as allocated, requests as requested")
def test_rounding(yours):
    counters = yours.Counters()
    counters.malloc(700, 1024)
    expected = {"requested.current": 700, "allocated.current": 1024, "active.current": 1024}
    why = "700 bytes were asked for; allocated is what is occupied, so blocks are counted"
    equal(counts(counters, *expected), expected, why, what="after malloc(700, 1024)")


@points(1, "a free that is completed")
def test_free(yours):
    counters = yours.Counters()
    counters.malloc(700, 1024)
    counters.free_requested(700, 1024)
    counters.free_completed(700, 1024)
    expected = {"requested.current": 0, "allocated.current": 0, "active.current": 0}
    equal(counts(counters, *expected), expected, "the block is free again", what="after the free")


@points(1, "a block that waits is active")
def test_waiting(yours):
    counters = yours.Counters()
    counters.malloc(700, 1024)
    counters.free_requested(700, 1024)
    expected = {"allocated.current": 0, "active.current": 1024}
    why = "it was freed, so it is not allocated; another stream still uses it, so it is active"
    equal(counts(counters, *expected), expected, why, what="after free_requested")


@points(1, "the request of a block that waits")
def test_waiting_request(yours):
    counters = yours.Counters()
    counters.malloc(700, 1024)
    counters.free_requested(700, 1024)
    why = "the request counts until the block can be handed out again"
    equal(counts(counters, "requested.current"), {"requested.current": 700}, why, what="after free_requested")


@points(1, "the peak is the highest value that was")
def test_peak(yours):
    counters = yours.Counters()
    counters.malloc(512, 512)
    counters.malloc(1024, 1024)
    counters.free_requested(1024, 1024)
    why = "allocated has been this high"
    equal(
        counts(counters, "allocated.peak"), {"allocated.peak": 1536}, why, what="after two mallocs and a free"
    )


@points(1, "a new peak begins from the current value")
def test_reset(yours):
    counters = yours.Counters()
    counters.malloc(512, 512)
    counters.malloc(1024, 1024)
    counters.free_requested(1024, 1024)
    counters.reset_peak()
    why = "512 bytes are allocated: the peak begins from the current value, not from 0"
    equal(counts(counters, "allocated.peak"), {"allocated.peak": 512}, why, what="after reset_peak")


@points(1, "segments are reserved until they go back")
def test_reserved(yours):
    counters = yours.Counters()
    counters.segment(2097152)
    counters.malloc(512, 512)
    counters.free_requested(512, 512)
    counters.free_completed(512, 512)
    expected = {"reserved.current": 2097152, "reserved.peak": 2097152}
    equal(
        counts(counters, *expected), expected, "a free gives nothing back to the device", what="after a free"
    )
    counters.segment(-2097152)
    expected = {"reserved.current": 0, "reserved.peak": 2097152}
    equal(counts(counters, *expected), expected, "the segment went back", what="after the segment went back")
