"""Events, and what they come to when added up by name. Times are in microseconds, memory in bytes."""
from collections import defaultdict
from dataclasses import dataclass

from .table import table_of


@dataclass
class Interval:
    """A stretch of time."""

    start: float
    end: float

    def elapsed_us(self):
        """Its length."""
        return self.end - self.start


class FunctionEvent:
    """One call of an operator, one node of backward, or one record_function block."""

    count = 1
    is_async = is_remote = is_legacy = False
    device_time = device_time_total = self_device_time_total = 0.0
    use_device = device_type = None

    def __init__(self, id, name, thread, start, shapes=None, stack=(), category="cpu_op", sequence_nr=-1):
        self.id = id
        self.name = self.key = name
        self.thread = thread
        self.time_range = Interval(start, start)
        self.input_shapes = shapes
        self.stack = list(stack)
        self.category = category            # "cpu_op", "backward" or "user_annotation"
        self.sequence_nr = sequence_nr
        self.is_user_annotation = category == "user_annotation"
        self.cpu_parent = None
        self.cpu_children = []
        self.self_cpu_memory_usage = 0

    def append_cpu_child(self, child):
        """Note an event that ran within this one."""
        self.cpu_children.append(child)
        child.cpu_parent = self

    @property
    def cpu_time_total(self):
        """From start to end, what ran within included."""
        return self.time_range.elapsed_us()

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self):
        """Without what ran within."""
        return self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    @property
    def cpu_memory_usage(self):
        """Bytes of the results made here and within."""
        return self.self_cpu_memory_usage + sum([child.cpu_memory_usage for child in self.cpu_children])

    def __repr__(self):
        return (f"<FunctionEvent id={self.id} name={self.name} thread={self.thread} cpu_time={self.cpu_time_total:.3f}us "
                f"self_cpu_time={self.self_cpu_time_total:.3f}us input_shapes={self.input_shapes}>")


class FunctionEventAvg:
    """All events of one key: sums, and the mean time of a call."""

    device_time_total = self_device_time_total = 0.0

    def __init__(self, key, input_shapes=None, stack=()):
        self.key = key
        self.input_shapes = input_shapes
        self.stack = list(stack)
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.is_user_annotation = False

    def add(self, event):
        """Add an event, or another sum. An event within one of its own key adds nothing to the total time."""
        self.count += event.count
        self.self_cpu_time_total += event.self_cpu_time_total
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.is_user_annotation = self.is_user_annotation or event.is_user_annotation
        if not is_within_own_key(event):
            self.cpu_time_total += event.cpu_time_total
            self.cpu_memory_usage += event.cpu_memory_usage
        return self

    __iadd__ = add

    @property
    def cpu_time(self):
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total:.3f}us "
                f"cpu_time={self.cpu_time:.3f}us input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage}>")


def is_within_own_key(event):
    parent = getattr(event, "cpu_parent", None)
    while parent is not None:
        if parent.key == event.key:
            return True
        parent = parent.cpu_parent
    return False


class EventList(list):
    """Events in the order they began, or their averages."""

    def __init__(self, events=(), profile_memory=False, with_stack=False):
        super().__init__(events)
        self.profile_memory = profile_memory
        self.with_stack = with_stack

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        """One FunctionEventAvg per name; also per input shapes, or per the innermost lines of the stack."""
        found = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else None
            stack = event.stack[:group_by_stack_n]
            key = event.key, str(shapes), tuple(stack)
            if key not in found:
                found[key] = FunctionEventAvg(event.key, shapes, stack)
            found[key].add(event)
        return EventList(found.values(), self.profile_memory, self.with_stack)

    def total_average(self):
        """Everything as one FunctionEventAvg; times are of the outermost events."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.count += event.count
            total.self_cpu_time_total += event.self_cpu_time_total
            total.self_cpu_memory_usage += event.self_cpu_memory_usage
        total.cpu_time_total = total.self_cpu_time_total
        total.cpu_memory_usage = total.self_cpu_memory_usage
        return total

    @property
    def self_cpu_time_total(self):
        return sum([event.self_cpu_time_total for event in self])

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """The events as text, one line each. `sort_by`: the name of an attribute, largest first.

        AttributeError if there is no such attribute.
        """
        rows = [e for e in self if getattr(e, "cpu_parent", None) is None] if top_level_events_only else list(self)
        if sort_by is not None:
            rows.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        return table_of(rows[:row_limit] if row_limit >= 0 else rows, self, max_name_column_width,
                        max_shapes_column_width, max_src_column_width, header, time_unit)

    def __str__(self):
        return self.table()

    def by_stack(self, metric):
        """{the stack, outermost first: the sum of a metric}, for flame graphs."""
        sums = defaultdict(float)
        for event in self:
            sums[(*reversed(event.stack), event.key)] += getattr(event, metric)
        return dict(sums)
