"""``viz.profile``: where the time of a profile went: when, under which caller, in which operator."""

from viz import profile_facts as facts
from viz.picture import Picture
from viz.trace import Trace
from viz.wrap import counted

FRAMES, ROWS, SLICES = 80, 12, 160
DEEPEST_SLICE, DEEPEST_FRAME = 4, 9


def profile(prof, *, frames=FRAMES, rows=ROWS, slices=SLICES):
    """A timeline, a flame graph and a table of a profile: teachtorch.profiler's or torch.profiler's.

    prof: the profile, or its events(). frames, rows, slices: show so many, the longest ones. ValueError for a
    profile without events.
    """
    return Picture(profile_trace(facts.events_of(prof), frames, rows, slices))


def profile_trace(events, frames=FRAMES, rows=ROWS, slices=SLICES):
    """The trace of a list of events; times become milliseconds since the first of them."""
    start = min([event.time_range.start for event in events])
    end = max([event.time_range.end for event in events])
    table = facts.rows_of(events)
    host = sum([row["self"] for row in table if row["kind"] != "kernel"])
    trace = Trace("profile", _title(events, host, (end - start) / 1000))
    lanes = _lanes(events)
    trace.groups = list(lanes.values())
    shown, of_time = _slices(events, lanes, start, slices)
    drawn, of_frames = _frames(events, host, frames)
    trace.nodes = [*shown, *drawn]
    trace.notes = _notes(table, host, len(shown), of_time, len(drawn), of_frames)
    trace.options = {
        "end": (end - start) / 1000,
        "host": host,
        "rows": [_rounded(row, host) for row in table[:rows]],
        "hidden_rows": max(0, len(table) - rows),
        "hint": "Point at a bar: what it is, and how long it took.",
    }
    return trace


def _title(events, host, span):
    return f"{counted(len(events), 'event')} in {span:.2f} ms; the host worked {host:.2f} ms of them"


def _notes(table, host, shown, of_time, drawn, of_frames):
    notes = []
    if host:
        top = next(row for row in table if row["kind"] != "kernel")
        notes.append(
            f"Most self time: {top['name']}, {top['self']:.2f} ms in {counted(top['count'], 'call')}, "
            f"{top['self'] / host:.0%} of the host's time."
        )
    if shown < of_time:
        notes.append(f"The timeline shows {shown} of {of_time} slices, the longest.")
    if drawn < of_frames:
        notes.append(f"The flame graph shows {drawn} of {of_frames} frames, the widest.")
    return notes


# When: one lane for each thread of the host, one for each stream of the device


def _lanes(events):
    """{(is on the host, thread or stream): lane}, with the number of rows that each needs."""
    lanes = {}
    for event in sorted(events, key=lambda event: not facts.on_host(event)):
        key = (facts.on_host(event), event.thread)
        lane = lanes.setdefault(key, {"kind": "thread" if key[0] else "stream", "depth": 1})
        if key[0]:
            lane["depth"] = max(lane["depth"], min(DEEPEST_SLICE, facts.depth_of(event) + 1))
    threads = 0
    for (is_host, number), lane in lanes.items():
        threads += is_host
        lane["id"] = f"host{threads}" if is_host else f"stream{number}"
        lane["label"] = ("host" if threads == 1 else f"thread {threads}") if is_host else f"stream {number}"
    return lanes


def _slices(events, lanes, start, most):
    within = [event for event in events if not facts.on_host(event) or facts.depth_of(event) < DEEPEST_SLICE]
    longest = sorted(within, key=lambda event: -facts.milliseconds(event))[:most]
    return [_slice(k, event, lanes, start) for k, event in enumerate(sorted(longest, key=_when))], len(events)


def _when(event):
    return event.time_range.start, -event.time_range.end


def _slice(k, event, lanes, start):
    time = facts.milliseconds(event)
    return {
        "id": f"s{k}",
        "kind": facts.kind_of(event),
        "part": "slice",
        "lane": lanes[facts.on_host(event), event.thread]["id"],
        "label": event.name,
        "depth": facts.depth_of(event),
        "from": round((event.time_range.start - start) / 1000, 4),
        "to": round((event.time_range.end - start) / 1000, 4),
        "tip": f"{event.name}: {time:.3f} ms, from {(event.time_range.start - start) / 1000:.3f} ms on",
    }


# Under which caller


def _frames(events, host, most):
    every = facts.frames_of(events)
    within = [frame for frame in every if frame.depth < DEEPEST_FRAME]
    widest = set(map(id, sorted(within, key=lambda frame: -frame.total)[:most]))
    return [_frame(k, frame, host) for k, frame in enumerate(every) if id(frame) in widest], len(every)


def _frame(k, frame, host):
    share = frame.total / host if host else 0.0
    return {
        "id": f"f{k}",
        "kind": frame.kind,
        "part": "frame",
        "label": frame.name,
        "depth": frame.depth,
        "from": round(frame.begin, 4),
        "to": round(frame.begin + frame.total, 4),
        "count": frame.count,
        "tip": f"{frame.name}: {counted(frame.count, 'call')}, {frame.total:.3f} ms in total ({share:.1%}), "
        f"{max(0.0, frame.self_time):.3f} ms of its own",
    }


# In which operator


def _rounded(row, host):
    return {
        **row,
        "self": round(row["self"], 4),
        "total": round(row["total"], 4),
        "share": round(row["self"] / host, 4) if host and row["kind"] != "kernel" else None,
    }
