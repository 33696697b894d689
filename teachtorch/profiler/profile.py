"""`profile` and `record_function`: what users write."""
import functools
import os
import socket
import time
import warnings
from enum import Enum

from ..core import observer
from .events import EventList
from .export import write_chrome_trace, write_stacks
from .recorder import Recorder
from .schedule import ProfilerAction, always


class ProfilerActivity(Enum):
    """What can be recorded. CUDA and XPU are PyTorch's names and record nothing here."""

    CPU = 0
    CUDA = 2
    XPU = 1


def supported_activities():
    """The activities that are recorded."""
    return {ProfilerActivity.CPU}


class profile:
    """Records the operators that run in its block (torch.profiler.profile).

    `schedule`: a function of the step number (see `schedule`); call `step()` at the end of each step.
    `on_trace_ready(prof)` is called with each window that is complete. `record_shapes`, `profile_memory` (bytes of
    results), `with_stack` (lines of the user's code) add columns. `with_flops`, `with_modules` and `acc_events` are
    accepted and do nothing.
    """

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, experimental_config=None,
                 execution_trace_observer=None, acc_events=False, use_cuda=None, custom_trace_id_callback=None):
        self.activities = set(activities) if activities is not None else supported_activities()
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.schedule = schedule or always
        self.has_schedule = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.options = dict(record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack)
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.metadata = {}
        self._recorder = None              # while it records
        self._events = None                # of the last window
        self._step_block = None

    # ---- the block ----------------------------------------------------------------------------------------------------

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def start(self):
        """Begin with step 0."""
        self._go_to(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self):
        """End; a window that is not complete is handed over as it is."""
        self._end_step()
        self._go_to(self.current_action, None)

    def step(self):
        """The next step begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._go_to(before, self.current_action)
        self._begin_step()

    def _begin_step(self):
        if self.has_schedule:
            self._step_block = record_function(f"ProfilerStep#{self.step_num}")
            self._step_block.__enter__()

    def _end_step(self):
        if self._step_block is not None:
            self._step_block.__exit__(None, None, None)
            self._step_block = None

    def _go_to(self, before, after):
        """Start or end recording between two steps. `after` None: the block ends."""
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if before is ProfilerAction.NONE and after in recording and self.has_schedule:
            warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=3)
        if before is ProfilerAction.RECORD_AND_SAVE or after is None and before in recording:
            self._hand_over()
        elif before in recording and after not in recording:
            raise RuntimeError(f"the schedule ends a window with {before} at step {self.step_num - 1}; it must end with "
                               "RECORD_AND_SAVE")
        if after in recording and self._recorder is None:
            self._recorder = Recorder(**self.options)
            self._recorder.start()

    def _hand_over(self):
        recorder, self._recorder = self._recorder, None
        recorder.stop()
        self._events = EventList(recorder.events, self.options["profile_memory"], self.options["with_stack"])
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # ---- the results --------------------------------------------------------------------------------------------------

    def events(self):
        """The events of the last window, in the order they began. AssertionError before there is one."""
        if self._events is None:
            raise AssertionError("Profiler must be initialized before getting events")
        return self._events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """The events added up by name; see EventList.key_averages."""
        if self._events is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        return self._events.key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path):
        """Write the events as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open; ".gz" compresses."""
        write_chrome_trace(path, self.events(), self.metadata)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write stacks for a flame graph; wants `with_stack=True`."""
        write_stacks(path, self.events(), metric)

    def add_metadata(self, key, value):
        """A string for the trace's head."""
        self.metadata[key] = value

    add_metadata_json = add_metadata


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """An `on_trace_ready` that writes each window into a folder, under a name of its own."""
    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        end = ".pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}{end}"))
    return handler


class record_function:
    """A block, or a decorated function, that appears in the profile under a name of its own."""

    def __init__(self, name, args=None):
        self.name = name
        self.args = args

    def __enter__(self):
        if observer.active:
            observer.report("annotation", phase="start", block=self, name=self.name)
        return self

    def __exit__(self, *error):
        if observer.active:
            observer.report("annotation", phase="end", block=self, name=self.name)

    def __call__(self, function):
        @functools.wraps(function)
        def annotated(*args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)
        return annotated
