"""Writes milliseconds."""

FAILS = "test_microseconds"
SAYS = "seconds times a million"


def slices(events):
    """The "X" entries, in the order of the events. Lanes count from 1 in the order in which threads first appear."""
    lanes = lanes_of(events)
    return [
        {
            "ph": "X",
            "name": event["name"],
            "pid": 1,
            "tid": lanes[event["thread"]],
            "ts": event["start"] * 1e3,
            "dur": (event["end"] - event["start"]) * 1e3,
        }
        for event in events
    ]


def lanes_of(events):
    """{thread: lane}."""
    threads = dict.fromkeys(event["thread"] for event in events)
    return {thread: number for number, thread in enumerate(threads, 1)}


def arrows(events):
    """The "s" and "f" entries, in pairs; `id` is the sequence number.

    A forward call without a node of backward, or a node whose forward call was not recorded, gets no arrow.
    """
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
