"""Listens to the observer and writes events.

An operator's call reaches the observer once for every key on its way down (Autograd, CPU, ...); that is one
event. The clock is read when a call is reported and when it has returned, so events of a thread nest and
never overlap. What streams of the simulated device do is in device.py.
"""
import itertools
import sys
import threading
import time

from numpy import may_share_memory

from ..core import observer
from ..tensor import Tensor, array_of
from .device import DeviceRecorder
from .events import FunctionEvent
from .flops import flops
from .names import function_name, operator_name

HOST = ("dispatch", "returned", "function", "node", "backward", "annotation")
DEVICE = ("stream", "memory")
PACKAGE = __name__.partition(".")[0]
EVALUATE = "autograd::engine::evaluate_function: "


def now():
    """Microseconds of a clock that only goes forward, the one that streams report."""
    return time.perf_counter_ns() / 1000


class Open(threading.local):
    """The calls of this thread that have not returned: [what it is, its event, how often it was reported,
    shapes, depth, arguments]."""

    def __init__(self):
        self.stack = []
        self.thread = threading.get_ident()


class Recorder:
    """Records while it is subscribed: `start()`, `stop()`, then `events`, in the order they began."""

    def __init__(self, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, on_host=True,
                 on_device=True):
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops = with_flops
        self.needs_shapes = record_shapes or with_flops
        self.events = []
        self.numbers = itertools.count()
        self.open = Open()
        self.forward = {}                      # sequence number of a node -> the event that made it
        self.device = DeviceRecorder(self) if on_device else None
        self.topics = (*(HOST if on_host else ()), *(DEVICE if on_device else ()))
        self.handlers = {topic: getattr(self.device if topic in DEVICE else self, "on_" + topic)
                         for topic in self.topics}

    def start(self):
        """Listen from now on."""
        observer.subscribe(self.receive, *self.topics)

    def stop(self):
        """Wait for the device, and end; what is still open ends now."""
        if self.device is not None:
            self.device.wait()
        observer.unsubscribe(self.receive)
        end = now()
        for event in self.events:
            if event.end is None:
                event.end = end
        self.events.sort(key=lambda event: event.start)

    def receive(self, topic, fields):
        self.handlers[topic](**fields)

    # ---- operators -----------------------------------------------------------------------------------------

    def on_dispatch(self, op, depth, args, **_):
        stack = self.open.stack
        if stack:
            last = stack[-1]
            if last[0] == op and last[4] == depth - last[2]:
                last[2] += 1                   # the same call, one key further down
                return
            if is_fresh(last, operator_name(op)):
                stack.append([op, last[1], 1, self.shapes_of(args), depth])
                return                         # a function by hand that goes on to the operator of its name
        shapes = self.shapes_of(args)
        stack.append([op, self.begin(operator_name(op), shapes if self.record_shapes else None), 1, shapes, depth,
                      args if self.profile_memory else None])

    def on_returned(self, op, result, **_):
        stack = self.open.stack
        if not stack or stack[-1][0] != op:
            return                             # it began before the recording did
        entry = stack[-1]
        entry[2] -= 1
        if entry[2]:
            return
        stack.pop()
        event = entry[1]
        if self.with_flops and isinstance(result, Tensor):
            event.flops = flops(event.name, entry[3], result._shape)
        if self.profile_memory and len(entry) > 5:
            self.note_memory(event, result, entry[5])
        if not (stack and stack[-1][1] is event):
            event.end = now()

    def note_memory(self, event, result, args):
        """The bytes of the results; what was made on the way and is not in them has been freed again."""
        made = fresh_bytes(result, args)
        event.self_cpu_memory_usage += made - sum([child.cpu_memory_usage for child in event.cpu_children])

    def on_function(self, phase, call, name, args=(), result=None):
        shown = function_name(name)
        if shown is None:
            return
        if phase == "end":
            self.end_function(call, result)
            return
        last = self.open.stack[-1] if self.open.stack else None
        if last is not None and is_fresh(last, shown):
            return                             # two functions by hand, one behind the other
        shapes = self.shapes_of(args)
        event = self.begin(shown, shapes if self.record_shapes else None)
        self.open.stack.append([Function(call), event, 1, shapes, -1, args if self.profile_memory else None])

    def end_function(self, call, result):
        stack = self.open.stack
        if self.profile_memory and stack and stack[-1][0] == call:
            self.note_memory(stack[-1][1], result, stack[-1][5])
        self.end(call)

    def shapes_of(self, args):
        return shapes_of(args) if self.needs_shapes else None

    # ---- backward, and blocks ------------------------------------------------------------------------------

    def on_node(self, node):
        """A call left a node of the graph behind: remember which, for the arrow to its backward."""
        if self.open.stack:
            event = self.open.stack[-1][1]
            event.sequence_nr = node.sequence_nr
            self.forward[node.sequence_nr] = event

    def on_backward(self, phase, node=None, **_):
        if phase == "node":
            forward = self.forward.get(node.sequence_nr)
            for name in (EVALUATE + node.name(), node.name()):
                event = self.begin(name, None, scope=BACKWARD)
                event.sequence_nr = node.sequence_nr if forward is not None else -1
                event.fwd_thread = forward.thread if forward is not None else None
                self.open.stack.append([node, event, 1, None, -1])
        elif phase in ("done", "failed"):
            self.end(node)
            self.end(node)

    def on_annotation(self, phase, block, name, **_):
        if phase == "start":
            self.open.stack.append([block, self.begin(name, None, "user_annotation", USER), 1, None, -1])
        else:
            self.end(block)

    # ---- events --------------------------------------------------------------------------------------------

    def begin(self, name, shapes, category="cpu_op", scope=0):
        """An event of this thread, within the innermost open one."""
        lines = stack_lines() if self.with_stack else []
        here = self.open
        event = FunctionEvent(next(self.numbers), name, here.thread, shapes=shapes, stack=lines,
                              category=category, scope=scope)
        if here.stack:
            here.stack[-1][1].append_cpu_child(event)
        self.events.append(event)
        event.start = now()
        return event

    def happened(self, name, start, end, category):
        """An event without anything within, which is over."""
        event = self.begin(name, [] if self.record_shapes else None, category)
        event.start, event.end = start, end
        return event

    def end(self, what):
        """End the event of a node or block, and what began within and has not returned, after an error."""
        stack = self.open.stack
        if what not in [entry[0] for entry in stack]:
            return
        while stack:
            entry = stack.pop()
            entry[1].end = now()
            if entry[0] == what:
                return


class Function:
    """Marks the call of a public function in the stack of open calls."""

    def __init__(self, call):
        self.call = call

    def __eq__(self, other):
        return other is self.call


def is_fresh(entry, name):
    """Whether an open call is of a function of this name, and nothing has run within yet."""
    what, event = entry[:2]
    return what.__class__ is Function and event.name == name and not event.cpu_children


BACKWARD, USER = 1, 7                          # at::RecordScope


def shapes_of(args):
    """The shape of each tensor argument, a list of shapes for a list, [] for anything else."""
    return [list(a._shape) if isinstance(a, Tensor) else
            [list(b._shape) for b in a] if isinstance(a, (list, tuple)) and a and isinstance(a[0], Tensor) else []
            for a in args]


def fresh_bytes(result, args):
    """Bytes of the results on the CPU that do not lie in the memory of an argument."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    given = [array_of(a) for a in args if is_on_cpu(a)]
    return sum([t.nbytes for t in results
                if is_on_cpu(t) and not any([may_share_memory(array_of(t), a) for a in given])])


def is_on_cpu(value):
    return isinstance(value, Tensor) and value._device.type == "cpu"


def stack_lines():
    """The lines of the user's code that led here, innermost first: "file.py(12): function"."""
    frames, frame = [], sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", PACKAGE).partition(".")[0] != PACKAGE:
            frames.append(frame)
        frame = frame.f_back
    return [f"{f.f_code.co_filename}({f.f_lineno}): {f.f_code.co_name}" for f in frames]
