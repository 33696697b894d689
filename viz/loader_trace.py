"""``viz.loader``: one epoch of a DataLoader, with its worker processes, on a line of time."""

import sys

from viz.engines import LIBRARIES
from viz.loader_record import record
from viz.picture import Picture
from viz.trace import Trace
from viz.wrap import counted

SHOWN = 16


def loader(loader, step=None, *, batches=SHOWN):
    """Run a DataLoader and draw when each batch was dealt, fetched, and given; who waited for whom.

    It iterates over the loader as a training loop would, so random numbers are drawn and workers are started.
    A loader of PyTorch reports nothing: a second one with the same arguments runs in its place, with parts that
    report.

    loader: a DataLoader of teachtorch or PyTorch. step: called with each batch, in place of a training step.
    batches: stop after so many. Raises TypeError for another object, ValueError for a number below 1.
    """
    library = _library(loader)
    if batches < 1:
        raise ValueError(f"viz.loader shows at least one batch, got batches={batches}")
    return Picture(loader_trace(record(loader, library, step, batches), _facts(loader)))


def _library(loader):
    for cls in type(loader).__mro__:
        name = cls.__module__.split(".")[0]
        if name in LIBRARIES and cls.__name__ == "DataLoader":
            return sys.modules[name]
    raise TypeError(f"viz.loader takes a DataLoader of teachtorch or PyTorch, got {type(loader).__name__}")


def _facts(loader):
    return {
        "workers": loader.num_workers,
        "prefetch": loader.prefetch_factor or 0,
        "in_order": loader.in_order,
        "size": loader.batch_size,
    }


def loader_trace(run, facts):
    """The trace of a ``Run``; times become milliseconds since its start."""
    clock = _Clock(run)
    trace = Trace("loader", _title(run, facts))
    trace.groups = _lanes(run, facts)
    trace.nodes = _start(clock, facts)
    for k, batch in enumerate(run.batches):
        trace.nodes += _bars(batch, k, clock, facts)
    tracks = _Tracks()
    for k, batch in enumerate(run.batches):
        trace.nodes += _parked(batch, k, clock, tracks)
    trace.groups += [{"id": f"ready{n}", "kind": "ready", "label": ""} for n in range(tracks.count)]
    trace.edges = [_edge(batch, k, clock) for k, batch in enumerate(run.batches) if _is_drawn(batch, facts)]
    trace.notes = [*_notes(run, facts, clock), *run.unseen]
    trace.options = {"end": clock.end, "table": _table(run, clock), "hint": "Step through the run."}
    trace.steps = _steps(run, facts, clock)
    return trace


class _Clock:
    """Milliseconds since the start, to a tenth."""

    def __init__(self, run):
        self.start = run.start
        self.ready = self.at(run.ready)
        self.end = self.at(run.batches[-1].done) if run.batches else self.ready

    def at(self, moment):
        return None if moment is None else round((moment - self.start) * 1000, 1)


def _title(run, facts):
    workers = counted(facts["workers"], "worker") if facts["workers"] else "no workers"
    return f"{counted(len(run.batches), 'batch', 'batches')} of a DataLoader with {workers}"


def _lanes(run, facts):
    """The lanes of time, from above: the loop, and each worker."""
    lanes = [{"id": "loop", "kind": "loop", "label": "training loop"}]
    return lanes + [{"id": f"w{n}", "kind": "worker", "label": f"worker {n}"} for n in range(facts["workers"])]


def _node(id, kind, lane, label, begin, end, **more):
    return {"id": id, "kind": kind, "lane": lane, "label": label, "from": begin, "to": end, **more}


def _start(clock, facts):
    if not facts["workers"]:
        return []
    return [_node("start", "start", "loop", "start", 0.0, clock.ready)]


def _bars(batch, k, clock, facts):
    """What the loop and the worker did for one batch. Without workers, the loop fetches where it would wait."""
    at, label = clock.at, str(batch.task)
    waited = "wait" if facts["workers"] else "fetch"
    bars = [
        _node(f"a{k}", waited, "loop", label, at(batch.asked), at(batch.given)),
        _node(f"u{k}", "use", "loop", label, at(batch.given), at(batch.done)),
    ]
    if batch.worker is not None and batch.began is not None:
        bars.append(_node(f"f{k}", "fetch", f"w{batch.worker}", label, at(batch.began), at(batch.ended)))
    return bars


class _Tracks:
    """Lines for finished batches that wait, each line holding one at a time."""

    def __init__(self):
        self.free = []

    @property
    def count(self):
        return len(self.free)

    def take(self, begin, end):
        for number, since in enumerate(self.free):
            if since <= begin:
                self.free[number] = end
                return number
        self.free.append(end)
        return len(self.free) - 1


def _parked(batch, k, clock, tracks):
    """A finished batch from its end until the loop takes it."""
    if batch.worker is None or batch.ended is None or batch.was_waited_for:
        return []
    begin, end = clock.at(batch.ended), clock.at(batch.given)
    return [_node(f"r{k}", "ready", f"ready{tracks.take(begin, end)}", str(batch.task), begin, end)]


def _is_drawn(batch, facts):
    return facts["workers"] > 0 and batch.was_waited_for


def _edge(batch, k, clock):
    return {"id": f"e{k}", "from": f"f{k}", "to": f"a{k}", "at": clock.at(batch.given)}


def _table(run, clock):
    """The moments of each batch, for the text."""
    names = ("dealt", "began", "ended", "asked", "given")
    return [
        {"task": batch.task, "worker": batch.worker, **{name: clock.at(getattr(batch, name)) for name in names}}
        for batch in run.batches
    ]


# Sentences


def _notes(run, facts, clock):
    if not run.batches:
        return ["The loader gave no batch."]
    waits = [batch for batch in run.batches if batch.was_waited_for]
    lost = sum(clock.at(batch.given) - clock.at(batch.asked) for batch in run.batches)
    notes = [f"Of {clock.end:.1f} ms, the loop waited {lost:.1f} ms for its batches"]
    if facts["workers"]:
        notes[0] += f" ({len(waits)} of {len(run.batches)} were not ready when it asked), and {clock.ready:.1f} ms for "
        notes[0] += "the workers to start."
        notes += _order_notes(run, facts)
    else:
        notes[0] += ": they are fetched in its own process, while it asks."
    if run.is_cut:
        notes.append(f"Showing the first {counted(len(run.batches), 'batch', 'batches')} of the epoch.")
    return notes


def _order_notes(run, facts):
    ahead = facts["workers"] * facts["prefetch"]
    product = f"{counted(facts['workers'], 'worker')} times prefetch_factor {facts['prefetch']}"
    text = f"At most {ahead} tasks are out: {product}. "
    finished = [batch.task for batch in sorted(run.batches, key=lambda b: b.ended)]
    given = [batch.task for batch in run.batches]
    if finished == given:
        return [text + "Batches were finished in the order in which they were given."]
    order = "put back in order" if facts["in_order"] else "given as they came (in_order=False)"
    return [text + f"Finished {_listed(finished)}; {order}: {_listed(given)}."]


def _listed(numbers):
    return " ".join(map(str, numbers[:24])) + (" ..." if len(numbers) > 24 else "")


def _steps(run, facts, clock):
    """What happened, in the order of time; all bars are pale until their moment comes."""
    bars = [f"{letter}{k}" for k in range(len(run.batches)) for letter in "aufre"]
    moments = sorted(_moments(run, facts, clock), key=lambda moment: moment[0])
    drawn, steps = set(), []
    first = {"ids": [], "msg": "At the start nothing is fetched.", "set": {}}
    for _, ids, sentence in moments:
        steps.append({"ids": ids, "msg": sentence, "set": {id: {"state": "shown"} for id in ids}})
        drawn.update(ids)
    first["set"] = {id: {"state": "later"} for id in bars if id in drawn}
    return [first, *steps] if steps else []


def _moments(run, facts, clock):
    """(time, ids, sentence) of everything that is told, unsorted."""
    yield from _dealing(run, facts, clock)
    for k, batch in enumerate(run.batches):
        if facts["workers"] and batch.worker is not None:
            yield clock.at(batch.ended), [f"f{k}"], _fetched(batch, clock)
        yield clock.at(batch.given), _given_ids(batch, k, facts), _given(batch, facts, clock)


def _dealing(run, facts, clock):
    first = [batch for batch in run.batches if batch.dealt is not None and batch.dealt <= run.ready]
    if first and facts["workers"]:
        shares = ", ".join(f"{batch.task} to worker {batch.worker}" for batch in sorted(first, key=lambda b: b.task))
        yield (clock.ready, ["start"], f"{clock.ready:.1f} ms: the workers are there, and tasks are dealt: {shares}.")


def _fetched(batch, clock):
    text = f"{clock.at(batch.ended):.1f} ms: worker {batch.worker} has finished batch {batch.task}"
    if batch.was_waited_for:
        return text + ", which the loop is waiting for."
    return text + ". Nobody has asked for it yet: it is kept."


def _given_ids(batch, k, facts):
    if not facts["workers"]:
        return [f"a{k}", f"u{k}"]
    return [f"a{k}", f"u{k}", f"e{k}"] if batch.was_waited_for else [f"a{k}", f"u{k}", *_kept_id(batch, k)]


def _kept_id(batch, k):
    return [f"r{k}"] if batch.worker is not None and batch.ended is not None else []


def _given(batch, facts, clock):
    waited = clock.at(batch.given) - clock.at(batch.asked)
    text = f"{clock.at(batch.given):.1f} ms: the loop has batch {batch.task}"
    if not facts["workers"]:
        return f"{text}, fetched in its own process in {waited:.1f} ms."
    if batch.was_waited_for:
        return f"{text}, after waiting {waited:.1f} ms for worker {batch.worker}; the next task is dealt."
    return f"{text}, which was ready; the next task is dealt."
