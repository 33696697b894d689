"""The CPU as a device among others (torch.cpu): its streams do nothing, since work is done when a call returns.

https://pytorch.org/docs/stable/cpu.html
"""
from contextlib import AbstractContextManager


class Stream:
    """A stream of the CPU: a name only."""

    def __init__(self, priority=-1):
        """`priority` is taken and ignored."""

    def wait_stream(self, stream):
        """Nothing is waiting."""

    def record_event(self):
        """Nothing is running."""

    def wait_event(self, event):
        """Nothing is waiting."""


class Event:
    """An event of the CPU: it has always happened."""

    def query(self):
        """Whether the work before it is done: always."""
        return True

    def record(self, stream=None):
        """Nothing is running."""

    def synchronize(self):
        """Nothing is running."""

    def wait(self, stream=None):
        """Nothing is running."""


_current = Stream()


class StreamContext(AbstractContextManager):
    """Makes a stream the current one inside a `with` block; None changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        global _current
        self.before = _current
        if self.stream is not None:
            _current = self.stream

    def __exit__(self, *error):
        global _current
        _current = self.before


def stream(stream):
    """`with stream(s):` makes `s` the current stream."""
    return StreamContext(stream)


def current_stream(device=None):
    """The current stream."""
    return _current


def is_available():
    """True: this program runs on one."""
    return True


def is_initialized():
    """True: there is nothing to start."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """"cpu"."""
    return "cpu"


def set_device(device):
    """There is one device only."""


def synchronize(device=None):
    """Nothing is running."""
