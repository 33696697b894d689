"""Events, and what they come to when added up by name. Times are in microseconds, memory in bytes."""
from collections import defaultdict, namedtuple

from .activities import DeviceType
from .table import table_of, time_text

Kernel = namedtuple("Kernel", "name device duration")      # what an event launched on a device


class Interval:
    """A stretch of time."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        """Its length."""
        return self.end - self.start

    def __repr__(self):
        return f"Interval(start={self.start}, end={self.end})"


class Times:
    """The mean of a call, and times as text; for events and for their sums."""

    use_device = None
    count = 1

    @property
    def cpu_time(self):
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self):
        """Mean time on the device of a call."""
        return self.device_time_total / self.count if self.count else 0.0

    def __getattr__(self, name):
        # "cpu_time_str" and the other names of times with "_str" behind them
        if name.endswith("_str") and "_time" in name:
            return time_text(getattr(self, name.removesuffix("_str")))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def is_on_cpu(self):
        return self.device_type is DeviceType.CPU


class FunctionEvent(Times):
    """One call of an operator, one node of backward, one record_function block, or one kernel of a device.

    `start`, `end`: when. `thread`: of the host; for a kernel the number of its stream. `category`: "cpu_op",
    "user_annotation", "privateuse1_runtime" (launches and waits), "kernel" or "gpu_memcpy". `scope`: 0
    forward, 1 backward, 7 a block of the user's.
    """

    is_async = is_remote = is_legacy = False
    start = end = correlation = fwd_thread = caller = None
    sequence_nr = -1
    flops = self_cpu_memory_usage = self_device_memory_usage = 0
    overload_name = ""
    concrete_inputs = ()
    node_id = device_index = 0
    kernels = ()

    def __init__(self, id, name, thread, shapes=None, stack=(), category="cpu_op", scope=0,
                 device_type=DeviceType.CPU):
        self.id = id
        self.trace_name = name
        self.name = self.key = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.thread = thread
        self.input_shapes = [] if shapes is None else shapes
        self.stack = list(stack)
        self.category = category
        self.scope = scope
        self.device_type = device_type
        self.cpu_parent = None
        self.cpu_children = []

    def append_cpu_child(self, child):
        """Note an event that ran within this one."""
        self.cpu_children.append(child)
        child.cpu_parent = self

    def append_kernel(self, name, device, duration):
        """Note what this event launched on a device; duration in microseconds."""
        self.kernels = [*self.kernels, Kernel(name, device, duration)]

    @property
    def is_user_annotation(self):
        """Whether a record_function block made it."""
        return self.category == "user_annotation"

    @property
    def time_range(self):
        """When it began and ended, an Interval."""
        return Interval(self.start, self.end)

    @property
    def elapsed(self):
        return self.end - self.start

    @property
    def cpu_time_total(self):
        """From start to end, what ran within included; 0 for a kernel."""
        return self.elapsed if self.is_on_cpu else 0.0

    @property
    def self_cpu_time_total(self):
        """Without what ran within."""
        return self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    @property
    def self_device_time_total(self):
        """Of a kernel, its time; of an event on the host, that of the kernels it launched itself."""
        return sum([kernel.duration for kernel in self.kernels]) if self.is_on_cpu else self.elapsed

    @property
    def device_time_total(self):
        """The kernels launched within included."""
        return self.self_device_time_total + sum([child.device_time_total for child in self.cpu_children])

    @property
    def cpu_memory_usage(self):
        """Bytes of the results made here and within."""
        return self.self_cpu_memory_usage + sum([child.cpu_memory_usage for child in self.cpu_children])

    @property
    def device_memory_usage(self):
        """Bytes that were allocated on the device here and within, less those freed."""
        return self.self_device_memory_usage + sum([child.device_memory_usage for child in self.cpu_children])

    def __repr__(self):
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
                f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
                f"start_us={self.start:.3f} end_us={self.end:.3f} thread={self.thread} "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"is_async={self.is_async}>")


SUMMED = ("count", "self_cpu_time_total", "self_device_time_total", "self_cpu_memory_usage",
          "self_device_memory_usage", "flops")
SUMMED_OUTSIDE = ("cpu_time_total", "device_time_total", "cpu_memory_usage", "device_memory_usage")


class FunctionEventAvg(Times):
    """All events of one key: sums, and the mean time of a call."""

    def __init__(self, key=None, input_shapes="", stack=(), device_type=DeviceType.CPU):
        self.key = key
        self.input_shapes = input_shapes
        self.stack = list(stack)
        self.device_type = device_type
        self.is_user_annotation = False
        self.overload_name = ""
        self.cpu_parent = self.cpu_children = self.scope = None
        for name in (*SUMMED, *SUMMED_OUTSIDE):
            setattr(self, name, 0)

    def add(self, other):
        """Add an event, or another sum. An event within one of its own key adds nothing to the total time: it
        is in that of the outer one already. (PyTorch counts it twice.) AssertionError for another key."""
        if self.key is None:
            self.key, self.input_shapes, self.device_type = other.key, other.input_shapes, other.device_type
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.is_user_annotation = self.is_user_annotation or other.is_user_annotation
        for name in SUMMED if is_within_own_key(other) else (*SUMMED, *SUMMED_OUTSIDE):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    __iadd__ = add

    def __repr__(self):
        device = self.use_device or "cuda"
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
                f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>")


def is_within_own_key(event):
    parent = event.cpu_parent
    while parent is not None:
        if parent.key == event.key:
            return True
        parent = parent.cpu_parent
    return False


class EventList(list):
    """Events in the order they began, or their averages."""

    def __init__(self, events=(), profile_memory=False, with_stack=False, with_flops=False):
        super().__init__(events)
        self.profile_memory, self.with_stack, self.with_flops = profile_memory, with_stack, with_flops

    def like(self, events):
        """A list of other events, recorded with the same options."""
        return EventList(events, self.profile_memory, self.with_stack, self.with_flops)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        """One FunctionEventAvg per name; also per input shapes, or per the innermost lines of the stack."""
        found = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else ""
            stack = event.stack[:group_by_stack_n]
            key = event.key, event.device_type, event.is_user_annotation, str(shapes), tuple(stack)
            if key not in found:
                found[key] = FunctionEventAvg(event.key, shapes, stack, event.device_type)
            found[key].add(event)
        return self.like(found.values())

    def total_average(self):
        """Everything as one FunctionEventAvg; its total times are the sums of the self times."""
        total = FunctionEventAvg("Total")
        for event in self:
            for name in SUMMED:
                setattr(total, name, getattr(total, name) + getattr(event, name))
        total.self_device_time_total = self.self_device_time_total
        for name in SUMMED_OUTSIDE:
            setattr(total, name, getattr(total, "self_" + name))
        return total

    @property
    def self_cpu_time_total(self):
        return sum([event.self_cpu_time_total for event in self])

    @property
    def self_device_time_total(self):
        """Time of the kernels; that of the operators that launched them is the same time again."""
        return sum([event.self_device_time_total for event in self if not event.is_on_cpu])

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """The events as text, one line each. `sort_by`: the name of an attribute, largest first.

        AttributeError if there is no such attribute.
        """
        rows = [e for e in self if e.cpu_parent is None] if top_level_events_only else list(self)
        if sort_by is not None:
            rows.sort(key=lambda event: getattr(event, on_device(sort_by)), reverse=True)
        return table_of(rows[:row_limit] if row_limit >= 0 else rows, self, max_name_column_width,
                        max_shapes_column_width, max_src_column_width, header, time_unit)

    def __str__(self):
        return self.table()

    supported_export_stacks_metrics = ("self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
                                       "self_privateuse1_time_total")

    def export_stacks(self, path, metric):
        """Write one line per stack, for flame graphs; ValueError for a metric that is none."""
        from .export import write_stacks
        write_stacks(path, self, metric)

    def export_chrome_trace(self, path):
        """Write the events as a trace that Perfetto opens."""
        from .export import write_chrome_trace
        write_chrome_trace(path, self)

    def by_stack(self, metric):
        """{the stack, outermost first, and the event's name: the sum of a metric}, for flame graphs."""
        sums = defaultdict(float)
        for event in self:
            sums[(*reversed(event.stack), event.key)] += getattr(event, on_device(metric))
        return dict(sums)


def on_device(metric):
    """PyTorch's older names of the device columns: "self_cuda_time_total" is self_device_time_total."""
    for name in ("cuda", "xpu", "privateuse1"):
        metric = metric.replace(name, "device")
    return metric
