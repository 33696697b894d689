"""Streams and events of accelerators, and which stream is current. https://pytorch.org/docs/stable/notes/cuda.html

A stream is a queue of work on a device: what is put into one runs in order, and no order holds between two
unless one waits for an event of the other. These classes hold no mechanism: a device's runtime
(memory/runtime.py, register_runtime) has

    new_stream(priority) -> id            priority_of(id)             launch(name, id, work, reads, writes, is_copy)
    record_event(id) -> mark              wait_event(id, mark)        seconds_between(mark, mark)
    stream_query(id) -> bool              stream_synchronize(id)      synchronize()

and a mark has query() and synchronize(). The stream 0 is the default one.
"""

import itertools
import threading
from time import perf_counter

from ..core import observer
from ..core.device import as_device, device
from .runtime import runtime_of

ACCELERATORS = ("cuda", "sim")  # by rank: the first one that is there is "the" accelerator
_next_event_id = itertools.count(1).__next__


class AcceleratorError(RuntimeError):
    """A kernel failed on the device; raised by the host's next synchronisation, which may be far from the cause."""


class Current(threading.local):
    """The current stream's number, by device type; 0 where none was chosen. Each thread has its own."""

    def __init__(self):
        self.stream_ids = {}


_current = Current()


def current_stream_id(device_type):
    """The number of the calling thread's current stream on a device type."""
    return _current.stream_ids.get(device_type, 0)


def set_current_stream_id(device_type, stream_id):
    if stream_id:
        side_streams.are_used = True
    _current.stream_ids[device_type] = stream_id


class SideStreams:
    """Whether any thread ever chose another stream than the default one. Until then nobody need ask for streams."""

    are_used = False
    id_for = staticmethod(current_stream_id)

    def current(self):
        """The calling thread's current streams, to be given to `restore`."""
        return dict(_current.stream_ids) if self.are_used else {}

    def restore(self, streams):
        if self.are_used:
            _current.stream_ids = streams


side_streams = SideStreams()


def accelerator_type():
    """The device type of the accelerator that is there, or None."""
    for device_type in ACCELERATORS:
        if device_type in _available:
            return device_type
    return None


_available = set()  # device types that can be used on this machine


def declare_available(device_type):
    """A runtime's word that its device can be used on this machine."""
    _available.add(device_type)


def accelerator_of(given):
    """A device from what a user gave, which must be an accelerator; None: the one that is there."""
    found = device(accelerator_type(), 0) if given is None else as_device(given)
    if found.type not in ACCELERATORS:
        raise RuntimeError(f"{found.type} is not an accelerator: it has no streams")
    runtime_of(found.type)
    return found if found.index is not None else device(found.type, 0)


class Stream:
    """A queue of work on an accelerator (torch.Stream): made from a pool of 32, handed out in turn.

    `device`: an accelerator, None for the one that is there. `priority`: below 0 chooses the pool of high
    priority. `stream_id`: for a stream that exists. As a context manager it becomes the current stream.
    """

    device_type_of_class = None

    def __init__(self, device=None, priority=0, *, stream_id=None):
        self.device = accelerator_of(self.device_type_of_class if device is None else device)
        self._runtime = runtime_of(self.device.type)
        self.stream_id = self._runtime.new_stream(priority) if stream_id is None else stream_id
        self._outer = []

    @property
    def device_index(self):
        """The index of its device: 0."""
        return self.device.index

    @property
    def priority(self):
        """-1 for a stream of high priority, else 0."""
        return self._runtime.priority_of(self.stream_id)

    def query(self):
        """Whether all work put into it so far is done."""
        is_done = self._runtime.stream_query(self.stream_id)
        if is_done and observer.active:
            report_answer("stream", stream=self.stream_id)
        return is_done

    def synchronize(self):
        """Block the host until all work put into it so far is done. AcceleratorError if a kernel failed."""
        begin = perf_counter()
        self._runtime.stream_synchronize(self.stream_id)
        if observer.active:
            report_wait("stream", begin, stream=self.stream_id)

    def record_event(self, event=None):
        """Mark the work that it has so far: `event`, or a new Event."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """Work put into this stream from now on waits for the event; the host does not."""
        event.wait(self)

    def wait_stream(self, stream):
        """Work put into this stream from now on waits for what `stream` has so far; the host does not."""
        self.wait_event(stream.record_event())

    def launch_host_function(self, function):
        """Put a Python function without arguments into the stream (cudaLaunchHostFunc)."""
        name = f"host function {getattr(function, '__name__', '')}".rstrip()
        self._runtime.launch(name, self.stream_id, function)

    def __enter__(self):
        self._outer.append(current_stream_id(self.device.type))
        set_current_stream_id(self.device.type, self.stream_id)
        return self

    def __exit__(self, *exc):
        set_current_stream_id(self.device.type, self._outer.pop())

    def __eq__(self, other):
        return isinstance(other, Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self):
        return hash((self.device, self.stream_id))

    def __repr__(self):
        return (
            f"torch.Stream device_type={self.device.type}, device_index={self.device.index}, stream_id={self.stream_id}"
        )


class Event:
    """A point in a stream's work (torch.Event): record it, and let the host or another stream wait for it.

    `enable_timing`: whether `elapsed_time` may be asked. `blocking`, `interprocess`: as in PyTorch's
    signature; waiting never spins here, and events do not leave the process (RuntimeError).
    """

    device_type_of_class = None

    def __init__(self, device=None, *, enable_timing=False, blocking=False, interprocess=False):
        if interprocess:
            raise RuntimeError("Event: interprocess events are not supported")
        self.device = accelerator_of(self.device_type_of_class if device is None else device)
        self.enable_timing = enable_timing
        self.event_id = _next_event_id()
        self._runtime = runtime_of(self.device.type)
        self._mark = None

    def record(self, stream=None):
        """Move to the end of the work that `stream` (None: the current one) has so far.

        Who waits already waits for the old point.
        """
        stream_id = current_stream_id(self.device.type) if stream is None else stream.stream_id
        self._mark = self._runtime.record_event(stream_id)
        if observer.active:
            observer.report(
                "stream", action="record", event=self.event_id, mark=self._mark, stream=stream_id, time=perf_counter()
            )

    def wait(self, stream=None):
        """Let work put from now on into `stream` (None: the current one) wait for the event; the host goes on.

        Nothing happens if it was never recorded.
        """
        if self._mark is None:
            return
        stream_id = current_stream_id(self.device.type) if stream is None else stream.stream_id
        self._runtime.wait_event(stream_id, self._mark)
        if observer.active:
            observer.report(
                "stream", action="wait", event=self.event_id, mark=self._mark, stream=stream_id, time=perf_counter()
            )

    def query(self):
        """Whether the stream has come to it; True if it was never recorded."""
        if self._mark is None:
            return True
        is_done = self._mark.query()
        if is_done and observer.active:
            report_answer("event", event=self.event_id, mark=self._mark)
        return is_done

    def synchronize(self):
        """Block the host until the stream has come to it. AcceleratorError if a kernel failed."""
        if self._mark is None:
            return
        begin = perf_counter()
        self._mark.synchronize()
        if observer.active:
            report_wait("event", begin, event=self.event_id, mark=self._mark)

    def elapsed_time(self, end_event):
        """Milliseconds of the device from this event to `end_event`.

        RuntimeError unless both have enable_timing, were recorded, and are done.
        """
        both = (self, end_event)
        if not all(event.enable_timing for event in both):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if not all(event._mark is not None for event in both):
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if not all(event.query() for event in both):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return self._runtime.seconds_between(self._mark, end_event._mark) * 1e3

    def __repr__(self):
        return f"torch.Event device_type={self.device.type}, device_index={self.device.index}, event_id={self.event_id}"


def report_wait(scope, begin, **which):
    """Tell the observer that the host has waited, from `begin` on."""
    observer.report("stream", action="synchronize", scope=scope, begin=begin, time=perf_counter(), **which)


def report_answer(scope, **which):
    """Tell the observer that the host was told that work is done: what it does now comes after that work."""
    observer.report("stream", action="query", scope=scope, time=perf_counter(), **which)


def synchronize(device_type):
    """Block the host until all streams of a device are done. AcceleratorError if a kernel failed."""
    begin = perf_counter()
    runtime_of(device_type).synchronize()
    if observer.active:
        report_wait("device", begin)


def synchronize_current_stream(device_type):
    """What an operator that needs the host to see data does."""
    begin, stream_id = perf_counter(), current_stream_id(device_type)
    runtime_of(device_type).stream_synchronize(stream_id)
    if observer.active:
        report_wait("stream", begin, stream=stream_id)
