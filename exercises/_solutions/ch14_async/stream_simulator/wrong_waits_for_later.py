"""The stream waits for whatever the other one has when the kernel is launched."""

FAILS = "test_only_what_is_there"
SAYS = "what it had"


class Event:
    """A point in a stream's work. time: when the device comes to it; None: never recorded."""

    def __init__(self):
        self.time = None


class Device:
    """host: the host's clock. free: stream -> when it has done all that it was given so far."""

    def __init__(self, launch_cost):
        self.launch_cost = launch_cost
        self.host = 0.0
        self.free = {}
        self.waits = {}

    def launch(self, stream, duration):
        """Put a kernel into a stream; return when it begins and when it ends."""
        self.host += self.launch_cost
        begin = max([self.host, self.free.get(stream, 0.0)] + [self.free.get(o, 0.0) for o in self.waits.get(stream, [])])
        self.free[stream] = begin + duration
        return begin, begin + duration

    def record(self, event, stream):
        """Let the event stand behind the work that the stream has so far."""
        event.time = self.free.get(stream, 0.0)

    def wait_event(self, stream, event):
        """Work that is put into the stream from now on begins after the event. Never recorded: nothing happens."""
        if event.time is not None:
            self.free[stream] = max(self.free.get(stream, 0.0), event.time)

    def wait_stream(self, stream, other):
        """Work that is put into `stream` from now on begins after the work that `other` has so far."""
        self.waits.setdefault(stream, []).append(other)

    def synchronize(self, stream):
        """Block the host until the stream has done the work that it has so far."""
        self.host = max(self.host, self.free.get(stream, 0.0))
