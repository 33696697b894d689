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
    """The lane of the current thread: (a number of its own, the thread's, which the next thread may have
    again)."""

    def __init__(self):
        self.lane = next(lanes), threading.get_ident()


class Recorder:
    """Records while it is subscribed: `start()`, `stop()`, then `events`, in the order they began."""

    def __init__(self, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
                 on_host=True,
                 on_device=True):
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops, self.needs_shapes = with_flops, record_shapes or with_flops
        self.topics = (*(HOST if on_host else ()), *(DEVICE if on_device else ()))
        self.handlers = {topic: getattr(self, "on_" + topic) for topic in self.topics}
        self.notes = []
        self.here = Here()
        # the wait at the end is the recorder's own, not the user's
        self.has_launched = self.is_ending = False
        self.end = self._events = None

    def start(self):
        """Listen from now on."""
        observer.subscribe(self.receive, *self.topics)

    def stop(self):
        """End; on the simulated device, when every kernel that was launched has run."""
        if self.has_launched:
            self.is_ending = True
            synchronize_sim()
        observer.unsubscribe(self.receive)
        self.end = perf_counter_ns()

    @property
    def events(self):
        """What happened between `start` and `stop`; what was open at the end ended then."""
        if self._events is None:
            self._events = Replay(self.record_shapes).events_of(self.notes, self.end)
            self.notes = []
        return self._events

    def receive(self, topic, fields):
        facts = self.handlers[topic](**fields)
        if facts is not None:
            self.notes.append((perf_counter_ns(), self.here.lane, facts))

    # ---- what is noted of each report: the name of a method of Replay and its arguments, or None -----------

    def on_call(self, phase, op, args, result=None):
        if phase == "start":
            return "begin_call", op, shapes_of(args) if self.needs_shapes else None, self.stack()
        return "end_call", op, self.shape_of(result), fresh_bytes(result,
                                                                  args) if self.profile_memory else None

    def on_function(self, phase, call, name, args, result=None):
        if phase == "start":
            shapes = shapes_of(args) if self.needs_shapes else None
            return "begin_function", id(call), name, shapes, self.stack()
        return "end_function", id(call), fresh_bytes(result, args) if self.profile_memory else None

    def on_node(self, node):
        return "made_node", node.sequence_nr

    def on_backward(self, phase, node=None, **_):
        if phase == "node":
            return "begin_node", id(node), node.name(), node.sequence_nr, self.stack()
        return ("end_node", id(node)) if phase in ("done", "failed") else None

    def on_annotation(self, phase, block, name):
        return ("begin_block", id(block), name, self.stack()) if phase == "start" else ("end", id(block))

    def on_stream(self, action, **fields):
        handle = getattr(self, "on_" + action, None)
        return handle(**fields) if handle is not None else None

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

    def on_memory(self, action, size=0, **_):
        if self.profile_memory and action in ("alloc", "free_completed"):
            return "device_memory", size if action == "alloc" else -size
        return None

    def shape_of(self, result):
        return result._shape if self.with_flops and isinstance(result, Tensor) else None

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
