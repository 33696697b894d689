"""Happens-before between streams, by vector clocks.

Each stream counts its launches. A clock says, for each stream, how many of its launches are known to be done
before what comes next; a stream's own clock is carried on by its launches, into a mark when an event is
recorded, into another stream when that waits, and into the host when the host waits. What the host then
launches comes after all it knows.

Two launches are ordered if the later one's clock counts the earlier one; else they may run at the same time,
whatever the order of the program's lines. (Lamport 1978; Mattern 1988; PyTorch's torch/cuda/_sanitizer.py.)
"""


class Clocks:
    """The clocks of all streams, all marks and the host, fed with the events of topic "stream" in program order."""

    def __init__(self):
        self.streams = {}  # stream -> {stream: count}
        self.marks = {}  # mark -> {stream: count}
        self.host = {}  # {stream: count}

    def of_stream(self, stream):
        """What is done before the next launch of a stream."""
        return self.streams.setdefault(stream, {})

    def launch(self, stream):
        """One more launch of a stream; returns its number there."""
        clock = self.of_stream(stream)
        join(clock, self.host)
        clock[stream] = clock.get(stream, 0) + 1
        return clock[stream]

    def record(self, mark, stream):
        """An event stands behind what the stream has so far."""
        self.marks[mark] = dict(self.of_stream(stream))

    def wait(self, mark, stream):
        """The stream's next launches come after the mark."""
        join(self.of_stream(stream), self.marks.get(mark, {}))

    def synchronize(self, scope, stream=None, mark=None):
        """The host has waited for a mark ("event"), a stream, or the whole device."""
        if scope == "event":
            join(self.host, self.marks.get(mark, {}))
        for one, clock in self.streams.items():
            if scope == "device" or scope == "stream" and one == stream:
                join(self.host, clock)

    def is_before(self, stream, count, later):
        """Whether a stream's launch number `count` is done before the next launch of stream `later`."""
        known = max(self.of_stream(later).get(stream, 0), self.host.get(stream, 0))
        return known >= count


def join(clock, other):
    """Let `clock` know all that `other` knows."""
    for stream, count in other.items():
        if count > clock.get(stream, 0):
            clock[stream] = count
