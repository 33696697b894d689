"""Self time and averages: a small profiler, and what its events come to.

    with recorder.block("forward"):        |------------ forward 10 ------------|
        with recorder.block("linear"):       |--- linear 6 ---|    |-- relu 2 --|
            with recorder.block("mm"):         |- mm 4 -|

The total time of a block is from its start to its end. Its self time is what is left without the blocks directly within
it: forward 10 - 6 - 2 = 2, linear 6 - 4 = 2, mm 4, relu 2. Self times add up to 10, total times do not.
"""

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
        raise NotImplementedError


def self_times(events):
    """The self time of each event, in their order."""
    raise NotImplementedError


def key_averages(events):
    """{name: {"count": ..., "self": ..., "mean": ...}}: sums of the self times, and the mean total time of a call."""
    raise NotImplementedError
