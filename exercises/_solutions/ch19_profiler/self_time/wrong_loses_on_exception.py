"""Ends a block only when it went well."""

FAILS = "test_exception"
SAYS = "left by an exception"

import contextlib


class Recorder:
    """Writes an event for each block: a dict with name, start, end, and parent (an index into events, or None).

    clock: a function that returns the time. Events are in the order in which the blocks began.
    """

    def __init__(self, clock):
        self.clock = clock
        self.events = []
        self.open = []

    @contextlib.contextmanager
    def block(self, name):
        """Record a block. It ends when it is left, whatever the way: with an exception, too."""
        parent = self.open[-1] if self.open else None
        event = {"name": name, "start": self.clock(), "end": None, "parent": parent}
        self.open.append(len(self.events))
        self.events.append(event)
        yield
        event["end"] = self.clock()
        self.open.pop()


def self_times(events):
    """The self time of each event, in their order."""
    times = [event["end"] - event["start"] for event in events]
    own = list(times)
    for event, time in zip(events, times):
        if event["parent"] is not None:
            own[event["parent"]] -= time
    return own


def key_averages(events):
    """{name: {"count": ..., "self": ..., "mean": ...}}: sums of the self times, and the mean total time of a call."""
    found = {}
    for event, own in zip(events, self_times(events)):
        row = found.setdefault(event["name"], {"count": 0, "self": 0, "total": 0})
        row["count"] += 1
        row["self"] += own
        row["total"] += event["end"] - event["start"]
    return {
        name: {"count": row["count"], "self": row["self"], "mean": row["total"] / row["count"]}
        for name, row in found.items()
    }
