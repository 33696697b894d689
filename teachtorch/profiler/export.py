"""Events as files: Chrome's trace format (Perfetto opens it), and stacks for flame graphs."""
import gzip
import json
import os


def chrome_trace(events, metadata=None):
    """The events in Chrome's trace format: complete slices ("X"), in microseconds, one lane per thread; arrows ("s" to
    "f") from an operator to the node of backward that it left behind."""
    pid = os.getpid()
    lanes = {thread: i + 1 for i, thread in enumerate(dict.fromkeys([e.thread for e in events]))}
    entries = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python"}}]
    entries += [{"ph": "M", "name": "thread_name", "pid": pid, "tid": lane, "ts": 0, "args": {"name": f"thread {lane}"}}
                for lane in lanes.values()]
    entries += [slice_of(event, pid, lanes[event.thread]) for event in events]
    return {"schemaVersion": 1, "displayTimeUnit": "ms", **(metadata or {}), "traceEvents": entries}


def slice_of(event, pid, lane):
    arguments = {"External id": event.id}
    if event.input_shapes is not None:
        arguments["Input Dims"] = event.input_shapes
    if event.sequence_nr >= 0:
        arguments["Sequence number"] = event.sequence_nr
    if event.stack:
        arguments["Call stack"] = ";\n".join(event.stack)
    return {"ph": "X", "cat": event.category, "name": event.name, "pid": pid, "tid": lane,
            "ts": event.time_range.start, "dur": event.time_range.elapsed_us(), "args": arguments}


def write_chrome_trace(path, events, metadata=None):
    """Write the trace; a name that ends in ".gz" is compressed."""
    path = os.fspath(path)
    opened = gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w")
    with opened as file:
        json.dump(chrome_trace(events, metadata), file)


def write_stacks(path, events, metric):
    """One line per stack, "outermost;...;operator 123", as flamegraph.pl and speedscope read it."""
    if metric not in ("self_cpu_time_total", "self_cuda_time_total"):
        raise ValueError("metric should be one of: ['self_cpu_time_total', 'self_cuda_time_total']")
    with open(path, "w") as file:
        for stack, value in events.by_stack(metric).items():
            if int(value) > 0:
                file.write(";".join([line.replace(";", ",").replace(" ", "_") for line in stack]) + f" {int(value)}\n")
