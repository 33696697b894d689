"""`profile`: what users write."""
import os
import time
import warnings

from ..core.annotation import record_function
from .activities import ProfilerActivity, available, parsed
from .events import EventList
from .recorder import Recorder
from .schedule import ProfilerAction, always

RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
CLEARS = ("Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will "
          "be reported. To keep events across cycles, set acc_events=True.")


class profile:
    """Records the operators that run in its block (torch.profiler.profile).

    `activities`: of ProfilerActivity; the CPU, and what the simulated device does in its streams. `schedule`:
    a function of the step number (see `schedule`); call `step()` at the end of each step.
    `on_trace_ready(prof)` is called with each window that is complete. `record_shapes`, `profile_memory`
    (bytes of results), `with_stack` (lines of the user's code) and `with_flops` (estimates for products and
    sums) add columns. `acc_events` keeps the events of earlier windows. `with_modules` and
    `experimental_config` are accepted and do nothing.

    Where PyTorch records the thread that began and those of backward, teachtorch records all threads. Bytes
    are those of results made; frees of CPU memory are not seen.
    """

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
                 profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, experimental_config=None,
                 execution_trace_observer=None, acc_events=False, use_cuda=None,
                 custom_trace_id_callback=None,
                 post_processing_timeout_s=None):
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning,
                          stacklevel=2)
        self.activities = parsed(activities)
        self.schedule = schedule or always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops, self.acc_events = with_stack, with_flops, acc_events
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.metadata = {}
        self._available = set()
        self._recorder = None              # while it records
        self._events = None                # of the last window; None before the first was prepared
        # recorders that are done, and whose events nobody has asked for yet
        self._unread = []
        self._step_block = None

    # ---- the block -----------------------------------------------------------------------------------------

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def start(self):
        """Begin with the step at hand."""
        self._go_to(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self):
        """End; a window that is not complete is handed over as it is. AssertionError if it was not started."""
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
        if self.record_steps:
            self._step_block = record_function(f"ProfilerStep#{self.step_num}")
            self._step_block.__enter__()

    def _end_step(self):
        if self._step_block is not None:
            self._step_block.__exit__(None, None, None)
            self._step_block = None

    def _go_to(self, before, after):
        """What lies between two steps; `after` None: the block ends. (action_map in torch/profiler/profiler.py)"""
        saves = before is ProfilerAction.RECORD_AND_SAVE
        is_window_over = saves or before in RECORDING and after not in RECORDING
        if is_window_over:
            self._end_window()
        if after in (ProfilerAction.NONE, ProfilerAction.WARMUP):
            self._complain(before, after)
        if is_window_over and (saves or after is None) and self.on_trace_ready:
            self.on_trace_ready(self)
        if after not in (None, ProfilerAction.NONE) and (saves or before is ProfilerAction.NONE):
            self._prepare()
        if after in RECORDING and self._recorder is None:
            self._begin_window()

    def _complain(self, before, after):
        cools_down = before is ProfilerAction.WARMUP and after is ProfilerAction.NONE
        if before is ProfilerAction.RECORD or cools_down:
            warnings.warn(f"Incorrect schedule: {before.name} followed by {after.name}", stacklevel=4)

    def _prepare(self):
        """A window comes; the events of the one before go."""
        self._available = available(self.activities)
        if self._events is None:
            self._events = self._list(())
        elif not self.acc_events:
            warnings.warn(CLEARS, stacklevel=4)
            self._events, self._unread = self._list(()), []

    def _begin_window(self):
        has = self._available.__contains__
        self._recorder = Recorder(self.record_shapes, self.profile_memory, self.with_stack, self.with_flops,
                                  has(ProfilerActivity.CPU), has(ProfilerActivity.PrivateUse1))
        self._recorder.start()

    def _end_window(self):
        if self._recorder is None:
            raise AssertionError("Profiler must be initialized before stopping trace")
        recorder, self._recorder = self._recorder, None
        recorder.stop()
        self._unread.append(recorder)

    def _list(self, events):
        return EventList(events, self.profile_memory, self.with_stack, self.with_flops)

    # ---- the results ---------------------------------------------------------------------------------------

    def _recorded(self, wish):
        if self._events is None:
            raise AssertionError(f"Profiler must be initialized before {wish}")
        if self._unread:
            self._events = self._list([*self._events,
                                       *[e for recorder in self._unread for e in recorder.events]])
            self._unread = []
        return self._events

    def events(self):
        """The events of the last window, in the order they began. AssertionError before there is one."""
        return self._recorded("accessing events")

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """The events added up by name; see EventList.key_averages."""
        return self._recorded("getting key averages").key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path):
        """Write the events as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open; ".gz" compresses."""
        from .export import write_chrome_trace
        write_chrome_trace(path, self._recorded("exporting chrome trace"), self._head())

    def _head(self):
        options = {name: 1 for name in ("record_shapes", "profile_memory", "with_stack", "with_flops")
                   if getattr(self, name)}
        return {**options, **self.metadata}

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write stacks for a flame graph. AssertionError without `with_stack=True`, ValueError for another metric."""
        events = self._recorded("exporting stacks")
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        events.export_stacks(path, metric)

    def add_metadata(self, key, value):
        """A string for the trace's head."""
        self.metadata[key] = str(value)

    def add_metadata_json(self, key, value):
        """A value for the trace's head, given as JSON text."""
        import json
        self.metadata[key] = json.loads(value)


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """An `on_trace_ready` that writes each window into a folder, under a name of its own."""
    import socket

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        end = ".pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}{end}"))
    return handler
