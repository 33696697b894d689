"""Makes events of a recorder's notes, by going through the calls of every thread once more.

Notes of a thread nest: what begins within an open call belongs to it. The clock was read when a call was
reported and when it had returned, so events of a thread nest and never overlap. What streams of the simulated
device did is in device.py.
"""
import itertools
from collections import defaultdict
from dataclasses import dataclass

from .device import IN_STREAMS, DeviceReplay
from .events import FunctionEvent
from .flops import flops
from .names import function_name, operator_name

EVALUATE = "autograd::engine::evaluate_function: "
BACKWARD, USER = 1, 7                          # at::RecordScope


@dataclass(slots=True)
class Open:
    """A call that has not returned: what its end will be known by, and its event."""

    what: object
    event: FunctionEvent
    is_function: bool = False                  # a public function that is no operator
    shapes: list = None


class Replay:
    """`events_of(notes, end)`: the events, in the order they began.

    `record_shapes`: whether events show the shapes that their notes hold.
    """

    def __init__(self, record_shapes=False):
        self.record_shapes = record_shapes
        self.events = []
        self.numbers = itertools.count()
        self.stacks = defaultdict(list)        # lane -> its open calls
        self.forward = {}                      # sequence number of a node -> the event that made it
        self.device = DeviceReplay(self)

    def events_of(self, notes, end):
        for nanoseconds, self.lane, (what, *facts) in notes:
            self.time, self.stack = nanoseconds / 1000, self.stacks[self.lane]
            if not hasattr(self.device, what):
                getattr(self, what)(*facts)
            elif what not in IN_STREAMS:
                getattr(self.device, what)(*facts)
        for _, _, (what, *facts) in notes:
            if what in IN_STREAMS:             # a kernel may begin before its launch has returned
                getattr(self.device, what)(*facts)
        for event in self.events:
            if event.end is None:
                event.end = end / 1000
        self.events.sort(key=lambda event: event.start)
        return self.events

    # ---- operators -----------------------------------------------------------------------------------------

    def begin_call(self, op, shapes, lines):
        name = operator_name(op)
        event = self.going_on(name) or self.begin(name, shapes, lines)
        self.stack.append(Open(op, event, shapes=shapes))

    def end_call(self, op, shape, made):
        if not self.stack or self.stack[-1].what != op:
            return                             # it began before the recording did
        entry = self.stack.pop()
        if shape is not None and entry.shapes is not None:
            entry.event.flops = flops(entry.event.name, entry.shapes, shape)
        if made is not None and not self.is_open(entry.event):
            note_memory(entry.event, made)
        if not self.is_open(entry.event):
            entry.event.end = self.time

    def is_open(self, event):
        """Whether the function that the event is of has more to do."""
        return bool(self.stack) and self.stack[-1].event is event

    def begin_function(self, call, name, shapes, lines):
        shown = function_name(name)
        if shown is not None and not self.going_on(shown):
            self.stack.append(Open(call, self.begin(shown, shapes, lines), is_function=True))

    def end_function(self, call, made):
        if made is not None and self.stack and self.stack[-1].what == call:
            note_memory(self.stack[-1].event, made)
        self.end(call)

    def going_on(self, name):
        """The event of the innermost open call, if that is a function by hand of this name within which
        nothing has
        run yet: it goes on to the operator of its name, and both are one call of the user's."""
        last = self.stack[-1] if self.stack else None
        if last is not None and last.is_function and last.event.name == name and not last.event.cpu_children:
            return last.event
        return None

    # ---- backward, and blocks ------------------------------------------------------------------------------

    def made_node(self, sequence_nr):
        """A call left a node of the graph behind: remember which, for the arrow to its backward."""
        if self.stack:
            event = self.forward[sequence_nr] = self.stack[-1].event
            event.sequence_nr = sequence_nr

    def begin_node(self, node, name, sequence_nr, lines):
        forward = self.forward.get(sequence_nr)
        for shown in (EVALUATE + name, name):
            event = self.begin(shown, None, lines, scope=BACKWARD)
            event.sequence_nr = sequence_nr if forward is not None else -1
            event.fwd_thread = forward.thread if forward is not None else None
            self.stack.append(Open(node, event))

    def end_node(self, node):
        self.end(node)
        self.end(node)

    def begin_block(self, block, name, lines):
        self.stack.append(Open(block, self.begin(name, None, lines, "user_annotation", USER)))

    # ---- events --------------------------------------------------------------------------------------------

    def begin(self, name, shapes, lines, category="cpu_op", scope=0):
        """An event of this lane, within the innermost open one."""
        event = FunctionEvent(next(self.numbers), name, self.lane[1], shapes if self.record_shapes else None,
                              [line_of(*frame) for frame in lines], category, scope)
        if self.stack:
            self.stack[-1].event.append_cpu_child(event)
        self.events.append(event)
        event.start = self.time
        return event

    def happened(self, name, start, end, category, lines):
        """An event without anything within, which is over."""
        event = self.begin(name, [], lines, category)
        event.start, event.end = start, end
        return event

    def end(self, what):
        """End the event of a node or block, and what began within and has not returned, after an error."""
        if what not in [entry.what for entry in self.stack]:
            return
        while self.stack:
            entry = self.stack.pop()
            entry.event.end = self.time
            if entry.what == what:
                return


def note_memory(event, made):
    """The bytes of the results; what was made on the way and is not in them has been freed again."""
    event.self_cpu_memory_usage += made - sum([child.cpu_memory_usage for child in event.cpu_children])


def line_of(code, line):
    """A line of a stack: "file.py(12): function"."""
    return f"{code.co_filename}({line}): {code.co_name}"
