"""Events as files: Chrome's trace format (Perfetto opens it), and stacks for flame graphs.

    "X"       a slice: name, ts and dur in microseconds, the lane (pid, tid) it lies in
    "M"       names of processes and lanes
    "s" "f"   an arrow: from an operator to the node of backward that it left behind, or from a launch to
              its kernel

Slices of one lane nest or lie apart; viewers drop those that overlap. The host is one process, its threads
are lanes; the device is another, its streams are lanes.
"""
import os

DEVICE_PID = 0


def chrome_trace(events, metadata=None):
    """The trace as a value that JSON can hold. `metadata`: further entries of its head."""
    pid = os.getpid()
    threads = dict.fromkeys([e.thread for e in events if e.is_on_cpu])
    streams = sorted({e.thread for e in events if not e.is_on_cpu})
    lanes = {thread: pid + k for k, thread in enumerate(threads)}
    entries = process(pid, "python", "CPU")
    entries += [lane(pid, number, f"thread {number} (python)") for number in lanes.values()]
    if streams:
        entries += process(DEVICE_PID, "sim", "SIM 0")
        entries += [lane(DEVICE_PID, number, f"stream {number}") for number in streams]
    places = {e.id: (pid, lanes[e.thread]) if e.is_on_cpu else (DEVICE_PID, e.thread) for e in events}
    entries += [slice_of(event, *places[event.id]) for event in events]
    entries += arrows(events, places)
    return {"schemaVersion": 1, "displayTimeUnit": "ms", **(metadata or {}), "traceEvents": entries}


def process(pid, name, label):
    return [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": name}},
            {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "ts": 0, "args": {"labels": label}}]


def lane(pid, tid, name):
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


def slice_of(event, pid, tid):
    return {"ph": "X", "cat": event.category, "name": event.trace_name, "pid": pid, "tid": tid,
            "ts": event.start, "dur": event.elapsed, "args": arguments_of(event)}


def arguments_of(event):
    """What a viewer shows when the slice is clicked."""
    found = {"External id": event.id}
    if event.input_shapes:
        found["Input Dims"] = event.input_shapes
    if event.sequence_nr >= 0:
        found["Sequence number"] = event.sequence_nr
    if event.correlation is not None:
        found["correlation"] = event.correlation
    if not event.is_on_cpu:
        found["stream"] = event.thread
    if event.stack:
        found["Call stack"] = ";\n".join(event.stack)
    return found


def arrows(events, places):
    """Each arrow has a number of its own and two ends; one whose other end was not recorded is left out."""
    pairs = [("fwdbwd", a, b) for a, b in forward_to_backward(events)]
    pairs += [("ac2g", a, b) for a, b in launch_to_kernel(events)]
    for number, (name, *ends) in enumerate(pairs, 1):
        for phase, event in zip("sf", ends):
            pid, tid = places[event.id]
            end = {"bp": "e"} if phase == "f" else {}
            yield {"ph": phase, "id": number, "pid": pid, "tid": tid, "ts": event.start,
                   "cat": name, "name": name, **end}


def forward_to_backward(events):
    """Pairs with the same sequence number: the event that made a node, and the node's evaluation."""
    made = {e.sequence_nr: e for e in events if e.sequence_nr >= 0 and e.scope != 1}
    seen = set()
    for event in events:
        if event.scope == 1 and event.sequence_nr in made and event.sequence_nr not in seen:
            seen.add(event.sequence_nr)
            yield made[event.sequence_nr], event


def launch_to_kernel(events):
    launches = {e.correlation: e for e in events if e.correlation is not None and e.is_on_cpu}
    return [(launches[e.correlation], e) for e in events if not e.is_on_cpu and e.correlation in launches]


def write_chrome_trace(path, events, metadata=None):
    """Write the trace; a name that ends in ".gz" is compressed."""
    import gzip
    import json
    path = os.fspath(path)
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        json.dump({**chrome_trace(events, metadata), "traceName": path}, file)


def write_stacks(path, events, metric):
    """One line per stack, "outermost;...;operator 123", as flamegraph.pl and speedscope read it."""
    if metric not in events.supported_export_stacks_metrics:
        raise ValueError(f"metric should be one of: {list(events.supported_export_stacks_metrics)}")
    with open(path, "w", encoding="utf-8") as file:
        for stack, value in events.by_stack(metric).items():
            if len(stack) > 1 and int(value) > 0:
                file.write(";".join([frame_text(line) for line in stack]) + f" {int(value)}\n")


def frame_text(line):
    """A line of a stack without what the format gives a meaning to."""
    return line.translate(str.maketrans(" ;\t\n", "____"))
