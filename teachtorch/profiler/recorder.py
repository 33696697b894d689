"""Listens to the observer and writes events.

An operator's call reaches the observer once for every key on its way down (Autograd, CPU, ...); that is one event. The
clock is read when a call is reported and when it has returned, so events of a thread nest and never overlap.
"""
import itertools
import sys
import threading
import time

from ..core import observer
from ..ops.namespaces import full_name
from ..dispatch.operator import registry
from ..tensor import Tensor
from .events import FunctionEvent

TOPICS = ("dispatch", "returned", "backward", "annotation")
PACKAGE = __name__.partition(".")[0]


def now():
    """Microseconds of a clock that only goes forward."""
    return time.perf_counter_ns() / 1000


class Open(threading.local):
    """The calls of this thread that have not returned."""

    def __init__(self):
        self.stack = []


class Recorder:
    """Records while it is subscribed: `start()`, `stop()`, then `events`."""

    def __init__(self, record_shapes=False, profile_memory=False, with_stack=False):
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.events = []
        self.numbers = itertools.count()
        self.open = Open()

    def start(self):
        observer.subscribe(self.receive, *TOPICS)

    def stop(self):
        """End; what is still open ends now."""
        observer.unsubscribe(self.receive)
        for event in self.events:
            if event.time_range.end == event.time_range.start:
                event.time_range.end = now()

    # ---- the observer's reports ---------------------------------------------------------------------------------------

    def receive(self, topic, fields):
        getattr(self, "on_" + topic)(**fields)

    def on_dispatch(self, op, key, depth, args):
        stack = self.open.stack
        if stack and stack[-1][0] == op and stack[-1][1].depth == depth - stack[-1][2]:
            stack[-1][2] += 1                  # the same call, one key further down
            return
        event = self.begin(op_name(op, args), shapes_of(args) if self.record_shapes else None)
        event.depth = depth
        stack.append([op, event, 1])

    def on_returned(self, op, result):
        stack = self.open.stack
        if not stack or stack[-1][0] != op:
            return                             # it began before the recording did
        stack[-1][2] -= 1
        if stack[-1][2]:
            return
        event = stack.pop()[1]
        if self.profile_memory:
            event.self_cpu_memory_usage += fresh_bytes(result) - sum([c.cpu_memory_usage for c in event.cpu_children])
        event.time_range.end = now()

    def on_backward(self, phase, node=None, **fields):
        if phase == "node":
            event = self.begin(node.name(), None, "backward", node.sequence_nr)
            self.open.stack.append([node, event, 1])
        elif phase in ("done", "failed"):
            self.end(node)

    def on_annotation(self, phase, block, name):
        if phase == "start":
            self.open.stack.append([block, self.begin(name, None, "user_annotation"), 1])
        else:
            self.end(block)

    # ---- events -------------------------------------------------------------------------------------------------------

    def begin(self, name, shapes, category="cpu_op", sequence_nr=-1):
        lines = stack_lines() if self.with_stack else ()
        event = FunctionEvent(next(self.numbers), name, threading.get_ident(), now(), shapes, lines, category, sequence_nr)
        event.depth = 0
        if self.open.stack:
            self.open.stack[-1][1].append_cpu_child(event)
        self.events.append(event)
        return event

    def end(self, what):
        """End the event of a node or block, and what began within and has not returned, after an error."""
        stack = self.open.stack
        if what not in [entry[0] for entry in stack]:
            return
        while stack:
            entry = stack.pop()
            entry[1].time_range.end = now()
            if entry[0] is what:
                return


def op_name(name, args):
    """"aten::mul": the operator under PyTorch's name, without the overload."""
    space, short, _ = full_name(registry[name], args)
    return f"{space}::{short}"


def shapes_of(args):
    """The shape of each tensor argument, a list of shapes for a list, [] for anything else."""
    return [list(a._shape) if isinstance(a, Tensor) else
            [list(b._shape) for b in a] if isinstance(a, (list, tuple)) and a and isinstance(a[0], Tensor) else []
            for a in args]


def fresh_bytes(result):
    """Bytes of results that are no views."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    return sum([t.nbytes for t in results if isinstance(t, Tensor) and t._base is None and t.device.type == "cpu"])


def stack_lines():
    """The lines of the user's code that led here, innermost first: "file.py(12): function"."""
    frames, frame = [], sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != PACKAGE:
            frames.append(frame)
        frame = frame.f_back
    return [f"{f.f_code.co_filename}({f.f_lineno}): {f.f_code.co_name}" for f in frames]


