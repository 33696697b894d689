"""Grades trace_writer.py."""

from exercises.grading import close, equal, points


def event(name, start, end, thread="main", sequence=None, is_backward=False):
    return {"name": name, "thread": thread, "start": start, "end": end, "sequence": sequence, "is_backward": is_backward}


@points(1, "times are microseconds")
def test_microseconds(yours):
    (entry,) = yours.slices([event("mm", 0.25, 0.75)])
    close([entry["ts"], entry["dur"]], [250_000.0, 500_000.0], "seconds times a million", what="ts and dur of 0.25 s to 0.75 s")


@points(1, "a slice has what a viewer needs")
def test_fields(yours):
    (entry,) = yours.slices([event("mm", 0.0, 1.0)])
    equal({k: entry.get(k) for k in ("ph", "name", "pid", "tid")}, {"ph": "X", "name": "mm", "pid": 1, "tid": 1},
          "a complete slice of the first lane", what="the slice")


@points(1, "slices of a lane never overlap")
def test_lanes(yours):
    events = [event("a", 0.0, 2.0, "main"), event("b", 1.0, 3.0, "worker"), event("c", 2.0, 4.0, "main")]
    why = "b begins within a and ends after it: in one lane a viewer drops one of them. Each thread has a lane"
    equal([entry["tid"] for entry in yours.slices(events)], [1, 2, 1], why, what="the lanes of a, b, c")


@points(1, "an arrow has two ends")
def test_pair(yours):
    events = [event("mul", 1.0, 2.0, sequence=7), event("MulBackward0", 5.0, 6.0, "engine", 7, True)]
    got = [(e["ph"], e["id"], e["tid"]) for e in yours.arrows(events)]
    equal(got, [("s", 7, 1), ("f", 7, 2)], "from the call in lane 1 to its node in lane 2", what="phase, id and lane")


@points(1, "arrows begin where their slices begin")
def test_moments(yours):
    events = [event("mul", 1.0, 2.0, sequence=7), event("MulBackward0", 5.0, 6.0, sequence=7, is_backward=True)]
    close([e["ts"] for e in yours.arrows(events)], [1e6, 5e6], "an arrow is tied to the slice that lies at its ts", what="ts")


@points(1, "an arrow without its other end is left out")
def test_balanced(yours):
    alone = [event("relu", 0.0, 1.0, sequence=1), event("ExpBackward0", 2.0, 3.0, sequence=2, is_backward=True),
             event("AccumulateGrad", 3.0, 4.0, is_backward=True), event("add", 5.0, 6.0)]
    equal(yours.arrows(alone), [], "none of these has its other end: half an arrow makes the file wrong")


@points(1, "a node that runs twice gets two arrows")
def test_twice(yours):
    events = [event("mul", 0.0, 1.0, sequence=3), event("MulBackward0", 2.0, 3.0, sequence=3, is_backward=True),
              event("MulBackward0", 4.0, 5.0, sequence=3, is_backward=True)]
    got = [e["ph"] for e in yours.arrows(events)]
    equal(got, ["s", "f", "s", "f"], "backward ran twice, with retain_graph", what="the phases")
