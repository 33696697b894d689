"""Reading a profile, teachtorch's or PyTorch's: frames added up by call path, slices of time, rows by operator."""

import re
from dataclasses import dataclass, field

_NODE = re.compile(r"^(autograd::engine|torch::autograd::)|Backward\d*$")
_RUNTIME = re.compile(r"^(sim|cuda|hip)[A-Z]|^cu[A-Z]")


@dataclass
class Frame:
    """All calls of one name under one path of callers; times in milliseconds."""

    name: str
    kind: str
    depth: int
    total: float = 0.0
    self_time: float = 0.0
    count: int = 0
    begin: float = 0.0
    children: dict = field(default_factory=dict)


def events_of(prof):
    """The events of a profile, of its list of events, or of the older torch.autograd.profiler.

    TypeError for anything else, ValueError if nothing was recorded.
    """
    found = getattr(prof, "function_events", None)
    if found is None:
        found = prof.events() if hasattr(prof, "events") else prof
    if not isinstance(found, list) or not all([hasattr(event, "time_range") for event in found]):
        raise TypeError(f"viz.profile draws a profile or its events(), not {type(prof).__name__}")
    if not found:
        raise ValueError("the profile has no events: did anything run between its beginning and its end?")
    return list(found)


def on_host(event):
    return str(event.device_type).endswith("CPU")


def kind_of(event):
    """What colour an event has."""
    if not on_host(event):
        return "kernel"
    if getattr(event, "is_user_annotation", False):
        return "block"
    if _NODE.search(event.name):
        return "backward"
    return "runtime" if _RUNTIME.search(event.name) else "op"


def depth_of(event):
    depth = 0
    while event.cpu_parent is not None:
        event, depth = event.cpu_parent, depth + 1
    return depth


def milliseconds(event):
    return (event.time_range.end - event.time_range.start) / 1000


# Frames of the flame graph


def frames_of(events):
    """Frames of the host's events, a caller before its callees, the longest first; `begin` puts them in a row."""
    roots = {}
    for event in events:
        if on_host(event) and event.cpu_parent is None:
            _add(roots, event, 0)
    return _placed(roots, 0.0)


def _add(siblings, event, depth):
    frame = siblings.setdefault(event.name, Frame(event.name, kind_of(event), depth))
    frame.total += milliseconds(event)
    frame.self_time += milliseconds(event) - sum([milliseconds(child) for child in event.cpu_children])
    frame.count += 1
    for child in event.cpu_children:
        _add(frame.children, child, depth + 1)


def _placed(siblings, begin):
    placed = []
    for frame in sorted(siblings.values(), key=lambda frame: (-frame.total, frame.name)):
        frame.begin = begin
        placed += [frame, *_placed(frame.children, begin)]
        begin += frame.total
    return placed


# Rows of the table


def rows_of(events):
    """One row per name, the largest self time first: of the host's time, kernels by the device's."""
    rows = {}
    for event in events:
        row = rows.setdefault((event.name, on_host(event)), _empty_row(event))
        row["count"] += 1
        row["self"] += max(0.0, milliseconds(event) - sum([milliseconds(child) for child in event.cpu_children]))
        if not _is_within_its_name(event):
            row["total"] += milliseconds(event)
    return sorted(rows.values(), key=lambda row: (-row["self"], row["name"]))


def _empty_row(event):
    return {"name": event.name, "kind": kind_of(event), "count": 0, "self": 0.0, "total": 0.0}


def _is_within_its_name(event):
    parent = event.cpu_parent
    while parent is not None and parent.name != event.name:
        parent = parent.cpu_parent
    return parent is not None
