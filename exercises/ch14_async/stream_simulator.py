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
        raise NotImplementedError

    def record(self, event, stream):
        """Let the event stand behind the work that the stream has so far."""
        raise NotImplementedError

    def wait_event(self, stream, event):
        """Work that is put into the stream from now on begins after the event. Never recorded: nothing happens."""
        raise NotImplementedError

    def wait_stream(self, stream, other):
        """Work that is put into `stream` from now on begins after the work that `other` has so far."""
        raise NotImplementedError

    def synchronize(self, stream):
        """Block the host until the stream has done the work that it has so far."""
        raise NotImplementedError
