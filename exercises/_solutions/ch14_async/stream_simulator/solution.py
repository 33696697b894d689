"""A device on paper: streams, events, and two clocks.

The host's clock advances by `launch_cost` with every launch, and the device never makes it wait, unless the host
synchronises. A stream runs its kernels one after the other; a kernel begins when it has been launched and its stream
is free. Times are in any unit; at the start all clocks show 0.
"""


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

    def launch(self, stream, duration):
        """Put a kernel into a stream; return when it begins and when it ends."""
        # solution
        self.host += self.launch_cost
        begin = max(self.host, self.free.get(stream, 0.0))
        self.free[stream] = begin + duration
        return begin, begin + duration
        # end of solution

    def record(self, event, stream):
        """Let the event stand behind the work that the stream has so far."""
        # solution
        event.time = self.free.get(stream, 0.0)
        # end of solution

    def wait_event(self, stream, event):
        """Work that is put into the stream from now on begins after the event. Never recorded: nothing happens."""
        # solution
        if event.time is not None:
            self.free[stream] = max(self.free.get(stream, 0.0), event.time)
        # end of solution

    def wait_stream(self, stream, other):
        """Work that is put into `stream` from now on begins after the work that `other` has so far."""
        # solution
        event = Event()
        self.record(event, other)
        self.wait_event(stream, event)
        # end of solution

    def synchronize(self, stream):
        """Block the host until the stream has done the work that it has so far."""
        # solution
        self.host = max(self.host, self.free.get(stream, 0.0))
        # end of solution
