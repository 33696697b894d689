"""Grades oom_retry.py."""

from exercises.grading import equal, points, raises


class Device:
    """`room` bytes; it refuses what does not fit, and writes down what it is asked."""

    def __init__(self, room):
        self.room, self.asked = room, []

    def __repr__(self):
        return "device"

    def malloc(self, size):
        self.asked.append(f"malloc {size}")
        if size > self.room:
            return False
        self.room -= size
        return True

    def free(self, size):
        self.asked.append(f"free {size}")
        self.room += size


def segment(size, used=0, stream=0):
    return {"size": size, "used": used, "stream": stream}


def new_stats():
    return {"num_alloc_retries": 0, "num_ooms": 0}


@points(1, "while there is room nothing is retried")
def test_room(yours):
    device, segments, stats = Device(40), [], new_stats()
    equal(yours.open_segment(device, segments, 20, 3, stats), segment(20, 0, 3), "a new segment for stream 3")
    equal(segments, [segment(20, 0, 3)], "the device has given it", what="the list of segments")
    equal(stats, new_stats(), "the device had room at once: no retry, no OOM", what="the counters")


@points(1, "while there is room the cache stays")
def test_cache_stays(yours):
    device, segments = Device(40), [segment(20)]
    yours.open_segment(device, segments, 20, 0, new_stats())
    why = "there was room: the cache stays, since giving it back is slow and it is needed again"
    equal(len(segments), 2, why, what="the number of segments")


@points(1, "without room it frees and asks again")
def test_retry(yours):
    device, segments, stats = Device(20), [segment(20)], new_stats()
    try:
        yours.open_segment(device, segments, 30, 0, stats)
    except MemoryError:
        pass
    why = "refused: the free segment goes back, and the allocator asks again"
    equal(device.asked, ["malloc 30", "free 20", "malloc 30"], why, what="what the device was asked")
    equal(stats, {"num_alloc_retries": 1, "num_ooms": 0}, "one retry, which went well", what="the counters")


@points(1, "segments of every stream go back")
def test_all_streams(yours):
    device, segments = Device(0), [segment(20, stream=1), segment(10, stream=2)]
    try:
        yours.open_segment(device, segments, 30, 0, new_stats())
    except MemoryError:
        pass
    why = "free segments of every stream go back, not only those of the stream that asks"
    equal(segments, [segment(30)], why, what="the list of segments")


@points(1, "a partly used segment stays")
def test_partly_used(yours):
    device, segments = Device(0), [segment(20, used=4), segment(10), segment(6, used=6)]
    yours.empty_cache(device, segments)
    why = "a segment with a live block cannot go back: somebody's tensor is in it"
    equal(segments, [segment(20, used=4), segment(6, used=6)], why, what="the list of segments")
    equal(device.asked, ["free 10"], why, what="what the device was asked")


@points(1, "out of memory")
def test_oom(yours):
    device, segments, stats = Device(20), [segment(20, used=4)], new_stats()
    raises(
        MemoryError,
        yours.open_segment,
        device,
        segments,
        30,
        0,
        stats,
        why="no room, and nothing to give back",
        text="30",
    )
    equal(stats["num_ooms"], 1, "the second refusal is an OOM", what="num_ooms")


@points(1, "after an OOM one can go on")
def test_afterwards(yours):
    device, segments, stats = Device(20), [segment(20, used=4), segment(10)], new_stats()
    raises(
        MemoryError,
        yours.open_segment,
        device,
        segments,
        40,
        0,
        stats,
        why="30 are not enough for 40",
        text="40",
    )
    equal(segments, [segment(20, used=4)], "the free segment went back", what="the list of segments")
    equal(yours.open_segment(device, segments, 30, 0, stats), segment(30), "now 30 are free")
    equal(stats, {"num_alloc_retries": 1, "num_ooms": 1}, "one of each so far", what="the counters")
