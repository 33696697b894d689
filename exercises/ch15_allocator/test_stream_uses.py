"""Grades stream_uses.py."""

from exercises.grading import equal, holds, points


class Event:
    """Something that happens when it is told to; a host that waits for it is noticed."""

    def __init__(self):
        self.done = self.was_waited_for = False

    def query(self):
        return self.done

    def synchronize(self):
        self.done = self.was_waited_for = True


class Device:
    """Hands out events and remembers them."""

    def __init__(self, yours):
        self.events = []
        self.cache = yours.StreamCache(self.record)

    def record(self, stream):
        self.events.append((stream, Event()))
        return self.events[-1][1]

    def streams(self):
        return [stream for stream, _ in self.events]


@points(1, "a freed block is handed out again")
def test_again(yours):
    cache = Device(yours).cache
    equal([cache.malloc(0), cache.malloc(0)], [0, 1], "nothing is free: new numbers", what="two mallocs")
    cache.free(0)
    equal(cache.malloc(0), 0, "block 0 is free again", what="malloc(0) after free(0)")
    equal(cache.malloc(0), 2, "nothing is free", what="one malloc more")


@points(1, "a block stays with its stream")
def test_streams(yours):
    cache = Device(yours).cache
    cache.free(cache.malloc(0))
    why = "block 0 belongs to another stream, which may still be working on it"
    equal(cache.malloc(1), 1, why, what="malloc(1) when only a block of stream 0 is free")
    equal(cache.malloc(0), 0, "its own stream gets it", what="malloc(0)")


@points(1, "a block that another stream uses waits")
def test_waits(yours):
    device = Device(yours)
    device.cache.record_stream(device.cache.malloc(0), 1)
    device.cache.free(0)
    why = "stream 1 has not got there yet: block 0 must not be handed out"
    equal(device.cache.malloc(0), 1, why, what="malloc(0) while the event is not done")


@points(1, "an event is recorded in the other stream, at the free")
def test_event(yours):
    device = Device(yours)
    device.cache.record_stream(device.cache.malloc(0), 1)
    equal(
        device.streams(),
        [],
        "the point that counts is the free: stream 1 may get more work until then",
        what="events before the free",
    )
    device.cache.free(0)
    equal(
        device.streams(), [1], "one event in the stream that uses the block", what="the streams of the events"
    )


@points(1, "when the event is done the block is free")
def test_done(yours):
    device = Device(yours)
    device.cache.record_stream(device.cache.malloc(0), 1)
    device.cache.free(0)
    for _, event in device.events:
        event.done = True
    equal(device.cache.malloc(0), 0, "stream 1 is done with block 0", what="malloc(0) after the event")


@points(1, "the host does not wait")
def test_host(yours):
    device = Device(yours)
    device.cache.record_stream(device.cache.malloc(0), 1)
    device.cache.free(0)
    device.cache.malloc(0)
    waited = any(event.was_waited_for for _, event in device.events)
    holds(
        not waited,
        "the host must not wait: it asks with query, and goes on",
        what="whether the host waited",
        got="it called synchronize",
        expected="it did not",
    )


@points(1, "two other streams")
def test_two_streams(yours):
    device = Device(yours)
    block = device.cache.malloc(0)
    for stream in (2, 1, 2):
        device.cache.record_stream(block, stream)
    device.cache.free(block)
    equal(sorted(device.streams()), [1, 2], "one event for each stream", what="the streams of the events")
    device.events[0][1].done = True
    why = "one of two is done: the block waits for both streams"
    equal(device.cache.malloc(0), 1, why, what="malloc(0) when one event is done")
    device.events[1][1].done = True
    equal(device.cache.malloc(0), 0, "both are done", what="malloc(0) when both are done")


@points(1, "record_stream of the block's own stream")
def test_own_stream(yours):
    device = Device(yours)
    device.cache.record_stream(device.cache.malloc(3), 3)
    device.cache.free(0)
    equal(
        device.streams(), [], "on its own stream the work is in order: no event is needed", what="the events"
    )
    equal(device.cache.malloc(3), 0, "the block was free at once", what="malloc(3)")
