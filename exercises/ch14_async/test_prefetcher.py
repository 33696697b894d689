"""Grades prefetcher.py, with the sanitizer of teachtorch and with what its observer tells."""

import teachtorch
from exercises.grading import equal, holds, points
from teachtorch import sim
from teachtorch.accelerator.clocks import Clocks
from teachtorch.accelerator.races import Race, UseAfterFree
from teachtorch.core import observer


def pinned(count):
    return [teachtorch.full((64,), float(k)).pin_memory() for k in range(count)]


class Events:
    """What happened on the streams, in the order of the program."""

    def __init__(self):
        self.seen = []

    def __call__(self, topic, fields):
        if fields["action"] not in ("begin", "end"):
            self.seen.append(fields)

    def launches(self):
        return [fields["launch"] for fields in self.seen if fields["action"] == "launch"]


def run(yours, count=4):
    """(sums of the batches, what happened, what the sanitizer found), for a consumer in the default stream.
    """
    batches, sums, events = pinned(count), [], Events()
    sim.synchronize()
    with teachtorch.accelerator.sanitizer(on_error="collect") as found, observer.watching(events, "stream"):
        for batch in yours.prefetched(batches):
            sums.append(batch.mul(2).sum())
            del batch
    sim.synchronize()
    values = [total.item() / 128 for total in sums]
    sim.stop()
    return values, events, found.findings


@points(1, "all batches arrive, in order")
def test_order(yours):
    equal(run(yours)[0], [0.0, 1.0, 2.0, 3.0], "four batches")
    equal(run(yours, 1)[0], [0.0], "a single batch")
    equal(run(yours, 0)[0], [], "no batch")


@points(1, "the work waits for its copy")
def test_work_waits_for_its_copy(yours):
    races = [finding for finding in run(yours)[2] if isinstance(finding, Race)]
    why = f"nothing orders the work with the copy of its batch:\n{races[0] if races else ''}"
    holds(not races, why)


@points(1, "the memory of a batch is kept until the work is done")
def test_memory_is_kept(yours):
    freed = [finding for finding in run(yours)[2] if isinstance(finding, UseAfterFree)]
    holds(not freed, f"{freed[0] if freed else ''}")


@points(1, "the host waits for nothing")
def test_host_waits_for_nothing(yours):
    waits = [fields for fields in run(yours)[1].seen if fields["action"] == "synchronize"]
    inside = [fields["scope"] for fields in waits[:-1]]
    equal(
        inside,
        [],
        "The host waits while it iterates: then it launches nothing, and the device runs dry",
        what="waits",
    )


@points(1, "the next copy is launched first")
def test_next_copy_is_launched_first(yours):
    names = ["copy" if launch.is_copy else launch.name for launch in run(yours, 3)[1].launches()]
    names = [name for name in names if name in ("copy", "mul")]
    equal(
        names,
        ["copy", "copy", "mul", "copy", "mul", "mul"],
        "each copy is launched before the work on the batch before it",
        what="launches",
    )


@points(2, "copy and work may overlap")
def test_copy_and_work_may_overlap(yours):
    events = run(yours, 3)[1]
    clocks, copies, works = Clocks(), [], []
    for fields in events.seen:
        note(clocks, fields, copies, works)
    holds(
        len(copies) == len(works) == 3,
        f"3 batches make 3 copies and 3 works, not {len(copies)} and {len(works)}",
    )
    (copy_stream, number), (work_stream, done) = copies[1], works[0]
    why = "the copy of batch 1 and the work on batch 0 cannot run at the same time: "
    holds(copy_stream != work_stream, why + "they are in one stream")
    holds(done.get(copy_stream, 0) < number, why + "the work waits for that copy, which is not its own")


def note(clocks, fields, copies, works):
    """Carry the clocks on; note each copy as (stream, number), each work as (stream, what is done before it).
    """
    action = fields["action"]
    if action == "launch":
        launch = fields["launch"]
        number = clocks.launch(launch.stream_id)
        if launch.is_copy:
            copies.append((launch.stream_id, number))
        elif launch.name == "mul":
            works.append((launch.stream_id, dict(clocks.of_stream(launch.stream_id))))
    elif action == "record":
        clocks.record(fields["mark"], fields["stream"])
    elif action == "wait":
        clocks.wait(fields["mark"], fields["stream"])
