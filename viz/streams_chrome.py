"""Reading the chrome trace that ``torch.profiler`` (or teachtorch's) exports: kernels, copies, and what launched them.
"""

import gzip
import json
from pathlib import Path

from viz.streams_record import Run, Wait, Work

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
HOST = ("cuda_runtime", "cuda_driver", "privateuse1_runtime")
WAITS = {
    "cudaDeviceSynchronize": "device",
    "cudaStreamSynchronize": "stream",
    "cudaEventSynchronize": "event",
    "simDeviceSynchronize": "device",
    "simStreamSynchronize": "stream",
    "simEventSynchronize": "event",
}


def run_of_chrome(path):
    """The ``Run`` of a trace file. ValueError for a file without kernels."""
    events = _events(Path(path))
    calls = [event for event in events if event.get("cat") in HOST]
    launched = {event["args"]["correlation"]: event for event in calls if "correlation" in event.get("args", {})}
    kernels = sorted((event for event in events if event.get("cat") in DEVICE), key=lambda event: event["ts"])
    if not kernels:
        raise ValueError(f"{path} has no kernels of an accelerator: was the profiler given ProfilerActivity.CUDA?")
    names = {stream: n for n, stream in enumerate(sorted({_stream(event) for event in kernels}))}
    works = [_work(event, launched.get(event["args"].get("correlation")), names) for event in kernels]
    works.sort(key=lambda work: work.launched)
    waits = [_wait(event, works) for event in calls if event["name"] in WAITS]
    start = min([work.launched[0] for work in works])
    return Run(start, max(work.ran[1] for work in works), works, waits)


def _events(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        found = json.load(file)
    events = found["traceEvents"] if isinstance(found, dict) else found
    return [event for event in events if event.get("ph") == "X"]


def _stream(event):
    return event["args"].get("stream", 0)


def _span(event):
    return event["ts"] / 1e6, (event["ts"] + event.get("dur", 0)) / 1e6


def _work(event, call, names):
    launched = _span(call) if call is not None else (_span(event)[0],) * 2
    return Work(event["name"], names[_stream(event)], "", event["cat"] != "kernel", launched, list(_span(event)))


def _wait(event, works):
    begin, end = _span(event)
    behind = [k for k, work in enumerate(works) if begin <= work.ran[1] <= end]
    return Wait(WAITS[event["name"]], begin, end, behind[-1:])
