"""Where the time goes: torch.profiler on teachtorch's observer.

    with profiler.profile(record_shapes=True) as prof:
        with profiler.record_function("forward"):
            model(x)
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    prof.export_chrome_trace("trace.json")          # opens in Perfetto or chrome://tracing

`recorder.py` listens to the observer and writes notes; `replay.py` makes one event per operator call of them
when somebody asks, `device.py` does so for the simulated device; `names.py` says what PyTorch calls them,
`flops.py` what they compute; `events.py` adds them up, `table.py` and `export.py` write them out;
`schedule.py` says which steps are recorded. Nothing is recorded, and nothing paid, while no profile is
running. https://pytorch.org/docs/stable/profiler.html
"""
from ..core.annotation import record_function
from . import legacy
from .activities import DeviceType, ProfilerActivity, supported_activities
from .events import EventList, FunctionEvent, FunctionEventAvg
from .profile import profile, tensorboard_trace_handler
from .schedule import ProfilerAction, schedule

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerAction",
           "ProfilerActivity", "legacy",
           "profile", "record_function", "schedule", "supported_activities", "tensorboard_trace_handler"]
