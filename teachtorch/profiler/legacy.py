"""`torch.autograd.profiler`: the interface that torch.profiler replaced, which much code still uses."""
from ..core.annotation import record_function  # noqa: F401
from .events import EventList
from .recorder import Recorder

UNFINISHED = "<unfinished torch.autograd.profile>"


class profile:
    """Records the operators that run in its block, once (torch.autograd.profiler.profile).

    `enabled` False: does nothing, and the block's value is None. RuntimeError if it is entered again.
    """

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False,
                 with_flops=False, profile_memory=False, with_stack=False, with_modules=False,
                 use_kineto=False, use_cpu=True,
                 experimental_config=None, acc_events=False, custom_trace_id_callback=None):
        self.enabled = enabled
        self.options = dict(record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack,
                            with_flops=with_flops)
        self.entered = False
        self.function_events = None
        self._recorder = Recorder(**self.options, on_host=use_cpu, on_device=use_device == "sim")

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._recorder.start()
        return self

    def __exit__(self, *error):
        if self.enabled:
            self._recorder.stop()
            self.function_events = EventList(self._recorder.events, self.options["profile_memory"],
                                             self.options["with_stack"], self.options["with_flops"])

    def _finished(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """The events added up by name."""
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self):
        """Everything as one FunctionEventAvg."""
        return self._finished().total_average()

    def table(self, *args, **kwargs):
        """The events as text; see EventList.table."""
        return self._finished().table(*args, **kwargs)

    def export_chrome_trace(self, path):
        """Write the events as a trace that Perfetto opens."""
        self._finished().export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write stacks for a flame graph."""
        self._finished().export_stacks(path, metric)

    @property
    def self_cpu_time_total(self):
        """The self times of all events together."""
        return self._finished().self_cpu_time_total

    def __str__(self):
        return UNFINISHED if self.function_events is None else str(self.function_events)

    def __repr__(self):
        return UNFINISHED if self.function_events is None else repr(self.function_events)
