"""``viz.join``: the collectives of all ranks one after the other, and which of them only shadow the others'."""

from viz.picture import Picture
from viz.tensors import human_bytes
from viz.trace import Trace

SHOWN = 48


def watch(*, collectives=SHOWN):
    """``with viz.join.watch() as seen: ...`` around ``with Join(...)``; then ``seen.picture``, the same on all ranks.

    Every rank of the default group enters and leaves the block: at its end they tell each other what they
    did.
    """
    return Recorder(lambda ranks: join(ranks, collectives=collectives))


def join(ranks, *, collectives=SHOWN):
    """Draw what ranks did: for each rank a list of {name, nbytes, phase}, phase "work", "shadow" or "end"."""
    return Picture(join_trace(ranks, collectives))


join.watch = watch


class Recorder:
    """The context manager behind ``viz.join.watch``; ``ranks`` is what was seen, ``picture`` shows it."""

    def __init__(self, draw):
        self._draw, self.ranks, self._phase, self._seen = draw, None, "work", []

    def __enter__(self):
        from teachtorch.core import observer

        observer.subscribe(self._note, "collective", "join")
        return self

    def _note(self, topic, fields):
        if topic == "join":
            self._phase = {"joined": "shadow", "ending": "end", "ended": "work"}[fields["phase"]]
        elif fields["phase"] == "start":
            self._seen.append({"name": fields["name"], "nbytes": fields["nbytes"], "phase": self._phase})

    def __exit__(self, kind, *exc):
        from teachtorch import distributed
        from teachtorch.core import observer

        observer.unsubscribe(self._note)
        if kind is None:
            self.ranks = [None] * distributed.get_world_size()
            distributed.all_gather_object(self.ranks, self._seen)

    @property
    def picture(self):
        """What the block did; RuntimeError before its end."""
        if self.ranks is None:
            raise RuntimeError("the block has not ended: there is nothing to draw yet")
        return self._draw(self.ranks)


def join_trace(ranks, shown=SHOWN):
    """The trace: a row for each rank, a column for each collective."""
    length = max((len(seen) for seen in ranks), default=0)
    trace = Trace("join", f"{length} collectives of {len(ranks)} ranks")
    trace.groups = [{"id": f"r{rank}", "kind": "row", "label": f"rank {rank}"} for rank in range(len(ranks))]
    for k in range(min(length, shown)):
        trace.groups.append({"id": f"k{k}", "kind": "column", "label": _head(ranks, k)})
        trace.nodes += [_cell(rank, k, seen[k]) for rank, seen in enumerate(ranks) if k < len(seen)]
        trace.steps.append(_step(ranks, k))
    trace.notes = _notes(ranks, length, shown)
    trace.options = {"hint": "Step through the collectives."}
    return trace


def _head(ranks, k):
    one = next(seen[k] for seen in ranks if k < len(seen))
    return f"{one['name'][:11]}\n{human_bytes(one['nbytes'])}"


def _cell(rank, k, one):
    return {
        "id": f"r{rank}k{k}",
        "kind": one["phase"],
        "row": rank,
        "column": k,
        "label": one["phase"],
        "about": f"{one['name']}, {human_bytes(one['nbytes'])}",
    }


def _step(ranks, k):
    ids = [f"r{rank}k{k}" for rank, seen in enumerate(ranks) if k < len(seen)]
    shadows = [rank for rank, seen in enumerate(ranks) if k < len(seen) and seen[k]["phase"] == "shadow"]
    head = _head(ranks, k).replace("\n", ", ")
    said = f"collective {k}: {head}"
    if shadows:
        verb = "takes" if len(shadows) == 1 else "take"
        said += f"; {_these(shadows)} no inputs any more and {verb} part with zeros"
    return {"ids": [*ids, f"k{k}"], "msg": said + ".", "set": {}}


def _these(ranks):
    return f"rank {ranks[0]} has" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))} have"


def _notes(ranks, length, shown):
    counts = [sum(one["phase"] == "shadow" for one in seen) for seen in ranks]
    parts = [f"rank {rank} shadows {count}" for rank, count in enumerate(counts) if count]
    notes = ["No rank shadows another: all have as many inputs."]
    if parts:
        notes = [f"{'; '.join(parts)}: collectives made for the others, with zeros."]
    if any(len(seen) != length for seen in ranks):
        notes.append(
            "The ranks made different numbers of collectives: without Join they would wait for ever."
        )
    if length > shown:
        notes.append(f"Showing {shown} of {length} collectives.")
    return notes
