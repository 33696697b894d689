"""A trace that Perfetto opens: slices in lanes, and arrows between them.

An event is a dict: name, thread, start and end in seconds, sequence (a number that the forward call and its node of
backward share; None for others) and is_backward. The file wants

    {"ph": "X", "name": ..., "pid": 1, "tid": lane, "ts": ..., "dur": ...}        a slice
    {"ph": "s", "name": "fwdbwd", "id": n, "pid": 1, "tid": lane, "ts": ...}      an arrow begins, at the forward call
    {"ph": "f", "name": "fwdbwd", "id": n, "pid": 1, "tid": lane, "ts": ...}      and ends, at the node of backward

with times in microseconds. Slices of one lane must nest or lie apart: viewers drop those that overlap.
"""


def slices(events):
    """The "X" entries, in the order of the events. Lanes count from 1 in the order in which threads first appear."""
    # solution
    lanes = lanes_of(events)
    return [
        {
            "ph": "X",
            "name": event["name"],
            "pid": 1,
            "tid": lanes[event["thread"]],
            "ts": event["start"] * 1e6,
            "dur": (event["end"] - event["start"]) * 1e6,
        }
        for event in events
    ]
    # end of solution


def lanes_of(events):
    """{thread: lane}."""
    # solution
    threads = dict.fromkeys(event["thread"] for event in events)
    return {thread: number for number, thread in enumerate(threads, 1)}
    # end of solution


def arrows(events):
    """The "s" and "f" entries, in pairs; `id` is the sequence number.

    A forward call without a node of backward, or a node whose forward call was not recorded, gets no arrow.
    """
    # solution
    lanes = lanes_of(events)
    forward = {event["sequence"]: event for event in events if not event["is_backward"]}
    found = []
    for event in events:
        number = event["sequence"]
        if event["is_backward"] and number is not None and number in forward:
            for phase, end in (("s", forward[number]), ("f", event)):
                place = {"pid": 1, "tid": lanes[end["thread"]], "ts": end["start"] * 1e6}
                found.append({"ph": phase, "name": "fwdbwd", "id": number, **place})
    return found
    # end of solution
