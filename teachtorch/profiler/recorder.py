"""Listens to the observer and writes notes: what a program pays for while it is recorded.

A note is a tuple (time, lane, what happened), appended to one list: that is all that happens between two
operators of the user's. Events, their order and their sums are made of the notes afterwards, in replay.py. No
note holds a tensor, so recording keeps no memory alive.
"""
import itertools
import sys
import threading
from time import perf_counter_ns

from numpy import may_share_memory

from ..core import observer
from ..tensor import Tensor, array_of
from .replay import Replay

HOST = ("call", "function", "node", "backward", "annotation")
DEVICE = ("stream", "memory")
PACKAGE = __name__.partition(".")[0]


lanes = itertools.count()


class Here(threading.local):
    """The lane of the current thread: (a number of its own, the thread's, which the next thread may have again)."""

    def __init__(self):
        self.lane = next(lanes), threading.get_ident()


class Recorder:
    """Records while it is subscribed: `start()`, `stop()`, then `events`, in the order they began."""

    def __init__(self, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
                 on_host=True,
                 on_device=True):
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops, self.needs_shapes = with_flops, record_shapes or with_flops
        topics = (*(HOST if on_host else ()), *(DEVICE if on_device else ()))
        self.handlers = {topic: getattr(self, "on_" + topic) for topic in topics}
        self.notes = []
        self.here = Here()
        # the wait at the end is the recorder's own, not the user's
        self.has_launched = self.is_ending = False
        self.end = self._events = None

    def start(self):
        """Listen from now on."""
        for topic, handler in self.handlers.items():
            observer.subscribe(handler, topic)

    def stop(self):
        """End; on the simulated device, when every kernel that was launched has run."""
        if self.has_launched:
            self.is_ending = True
            synchronize_sim()
        for handler in self.handlers.values():
            observer.unsubscribe(handler)
        self.end = perf_counter_ns()

    @property
    def events(self):
        """What happened between `start` and `stop`; what was open at the end ended then."""
        if self._events is None:
            self._events = Replay(self.record_shapes).events_of(self.notes, self.end)
            self.notes = []
        return self._events

    # ---- what is noted of each report: the name of a method of Replay and its arguments --------------------
    # A note's fields are read from the report as it comes, and every line here is paid for between two
    # operators of the user's. The clock is read last before an operator runs, and first when it has run.

    def note(self, time, *facts):
        self.notes.append((time, self.here.lane, facts))

    def on_call(self, _, fields):
        if fields["phase"] == "start":
            shapes = shapes_of(fields["args"]) if self.needs_shapes else None
            facts = "begin_call", fields["op"], shapes, frames() if self.with_stack else ()
            self.notes.append((perf_counter_ns(), self.here.lane, facts))
        else:
            time, result = perf_counter_ns(), fields["result"]
            made = fresh_bytes(result, fields["args"]) if self.profile_memory else None
            shape = result._shape if self.with_flops and isinstance(result, Tensor) else None
            self.notes.append((time, self.here.lane, ("end_call", fields["op"], shape, made)))

    def on_function(self, _, fields):
        if fields["phase"] == "start":
            shapes = shapes_of(fields["args"]) if self.needs_shapes else None
            facts = "begin_function", id(fields["call"]), fields["name"], shapes, frames() if self.with_stack else ()
            self.notes.append((perf_counter_ns(), self.here.lane, facts))
        else:
            time = perf_counter_ns()
            made = fresh_bytes(fields["result"], fields["args"]) if self.profile_memory else None
            self.notes.append((time, self.here.lane, ("end_function", id(fields["call"]), made)))

    def on_node(self, _, fields):
        self.notes.append((perf_counter_ns(), self.here.lane, ("made_node", fields["node"].sequence_nr)))

    def on_backward(self, _, fields):
        phase, node = fields["phase"], fields["node"]
        if phase == "node":
            facts = "begin_node", id(node), node.name(), node.sequence_nr, frames() if self.with_stack else ()
            self.notes.append((perf_counter_ns(), self.here.lane, facts))
        elif phase != "start" and phase != "end":
            self.notes.append((perf_counter_ns(), self.here.lane, ("end_node", id(node))))

    def on_annotation(self, _, fields):
        if fields["phase"] == "start":
            self.note(perf_counter_ns(), "begin_block", id(fields["block"]), fields["name"], self.stack())
        else:
            self.note(perf_counter_ns(), "end", id(fields["block"]))

    def on_stream(self, _, fields):
        handle = getattr(self, "on_" + fields["action"], None)
        facts = handle(**fields) if handle is not None else None
        if facts is not None:
            self.note(perf_counter_ns(), *facts)

    def on_memory(self, _, fields):
        action = fields["action"]
        if self.profile_memory and action in ("alloc", "free_completed"):
            size = fields["size"]
            self.note(perf_counter_ns(), "device_memory", size if action == "alloc" else -size)

    # ---- of the stream's actions, or None ------------------------------------------------------------------

    def on_launch(self, launch, begin, time, **_):
        self.has_launched = True
        what = launch.number, launch.name, launch.is_copy, launch.stream_id
        return "launch", *what, begin * 1e6, time * 1e6, self.stack()

    def on_begin(self, launch, time, **_):
        return "begin_kernel", launch.number, time * 1e6

    def on_end(self, launch, time, **_):
        return "end_kernel", launch.number, time * 1e6

    def on_synchronize(self, scope, begin, time, **_):
        return None if self.is_ending else ("wait", scope, begin * 1e6, time * 1e6, self.stack())

    def stack(self):
        return frames() if self.with_stack else ()


def synchronize_sim():
    from ..memory.streams import synchronize
    synchronize("sim")


def shapes_of(args):
    """The shape of each tensor argument, a list of shapes for a list, [] for anything else."""
    return [list(a._shape) if isinstance(a, Tensor) else
            [list(b._shape) for b in a] if isinstance(a, (list, tuple)) and a and isinstance(a[0], Tensor)
            else []
            for a in args]


def fresh_bytes(result, args):
    """Bytes of the results on the CPU that do not lie in the memory of an argument."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    given = [array_of(a) for a in args if is_on_cpu(a)]
    return sum([t.nbytes for t in results
                if is_on_cpu(t) and not any([may_share_memory(array_of(t), a) for a in given])])


def is_on_cpu(value):
    return isinstance(value, Tensor) and value._device.type == "cpu"


def frames():
    """The user's code that led here, innermost first: (its code, the line)."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", PACKAGE).partition(".")[0] != PACKAGE:
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return found
