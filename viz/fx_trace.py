"""``viz.fx``: the graph of traced code, or what a pass did to it."""

from difflib import SequenceMatcher

from viz.collapse import collapse
from viz.fx_read import Call, graph_of, read
from viz.picture import Picture
from viz.trace import Trace
from viz.wrap import counted

MAX_NODES = 40
_NEAR = 1


def fx(graph, before=None, *, max_nodes=MAX_NODES):
    """The graph of a traced function; with ``before``, both graphs in one picture: added, vanished, changed nodes.

    Shapes appear where a pass has noted them (ShapeProp), or a trace has (jit.trace).

    graph, before: a GraphModule or Graph of torch.fx or teachtorch.fx, or what teachtorch's jit.trace returns. A node
        is known by its name: compare a graph with a copy of itself from before the pass.
    max_nodes: about how many cards to draw; repetitions, and what a pass left alone, share a card beyond that.
    Raises TypeError for anything else.
    """
    after = read(graph_of(graph, "viz.fx"))
    if before is None:
        return Picture(_plain(after, max_nodes))
    return Picture(_compared(read(graph_of(before, "viz.fx")), after, max_nodes))


# One graph


def _plain(calls, max_nodes):
    trace = Trace("fx", f"a graph of {counted(len(calls), 'node')}")
    pieces = [[call] for call in calls]
    if len(calls) > max_nodes:
        pieces = _folded(calls, max_nodes)
    _fill(trace, calls, pieces)
    trace.notes = _kinds_note(calls) + _shown(calls, pieces)
    return trace


def _kinds_note(calls):
    kinds = {}
    for call in calls:
        kinds[call.op] = kinds.get(call.op, 0) + 1
    return [", ".join(f"{count} {op}" for op, count in kinds.items()) + "."]


def _shown(calls, pieces):
    hidden = len(calls) - len(pieces)
    return [f"Showing {len(pieces)} cards for {len(calls)} nodes."] if hidden else []


class _Walk:
    """The calls as ``viz.collapse`` wants a graph: every node points to what it reads."""

    def __init__(self, calls):
        self.nodes = calls
        self.place = {call.name: k for k, call in enumerate(calls)}
        self.edges = [[(self.place[name], 0) for name in call.reads] for call in calls]

    def is_leaf(self, k):
        return self.nodes[k].op in ("placeholder", "get_attr")

    def name(self, k):
        return self.nodes[k].short


def _folded(calls, max_nodes):
    """The calls in lists, one for each card, in an order in which they can run."""
    walk = _Walk(calls)
    folds = collapse(walk, list(reversed(range(len(calls)))), max_nodes)
    home = {member: k for k, fold in enumerate(folds) for member in fold.members}
    pieces, seen = [], {}
    for k, call in enumerate(calls):
        fold = home.get(k, ("alone", k))
        if fold not in seen:
            seen[fold] = []
            pieces.append(seen[fold])
        seen[fold].append(call)
    return pieces


# Two graphs


def _compared(before, after, max_nodes):
    calls = _merged(before, after)
    pieces = [[call] for call in calls] if len(calls) <= max_nodes else _unchanged_folded(calls)
    trace = Trace("fx", "a graph before and after")
    _fill(trace, calls, pieces)
    marks = [call.mark for call in calls]
    words = [f"{marks.count(mark)} {mark}" for mark in ("added", "vanished", "changed") if mark in marks]
    trace.notes = [
        f"{counted(len(before), 'node')} before, {counted(len(after), 'node')} after: "
        + (", ".join([*words, f"{marks.count('same')} as before"]) if words else "nothing has changed")
        + ".",
        *_shown(calls, pieces),
    ]
    return trace


def _merged(before, after):
    """All calls of both graphs in one order, each with its mark."""
    old = {call.name: call for call in before}
    new = {call.name: call for call in after}
    names = [[call.name for call in calls] for calls in (before, after)]
    calls = []
    for word, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if word != "equal":
            calls += [_vanished(old[name]) for name in names[0][a:b] if name not in new]
        calls += [_marked(old.get(name), new[name]) for name in names[1][c:d]]
    return calls


def _vanished(call):
    return call.with_mark("vanished")


def _marked(old, new):
    if old is None:
        return new.with_mark("added")
    if old.text == new.text:
        return new.with_mark("same")
    return new.changed_from(old)


def _unchanged_folded(calls):
    """Long runs of calls that a pass left alone share a card; those beside a change keep their own."""
    near = {k + step for k, call in enumerate(calls) if call.mark != "same" for step in range(-_NEAR, _NEAR + 1)}
    pieces, run = [], []
    for k, call in enumerate(calls):
        if k in near or call.op in ("output",):
            pieces += ([run] if run else []) + [[call]]
            run = []
        else:
            run.append(call)
    return pieces + ([run] if run else [])


# Cards and edges


def _fill(trace, calls, pieces):
    home = {call.name: f"n{k}" for k, piece in enumerate(pieces) for call in piece}
    trace.nodes = [_node(f"n{k}", piece) for k, piece in enumerate(pieces)]
    trace.edges = _edges(calls, home)
    trace.options = {"direction": "backward", "hint": ""}


def _node(number, piece):
    if len(piece) > 1:
        return {"id": number, "kind": "calls", "label": counted(len(piece), "node"), "lines": _summary(piece), "mark": "same"}
    call = piece[0]
    return {
        "id": number,
        "kind": "call",
        "op": call.op,
        "label": call.name,
        "what": call.text if call.op != "placeholder" else "",
        "shape": call.shape,
        "mark": call.mark,
        "note": call.note,
    }


def _summary(piece):
    """What a folded run holds: its commonest calls."""
    counts = {}
    for call in piece:
        counts[call.short] = counts.get(call.short, 0) + 1
    common = sorted(counts.items(), key=lambda item: -item[1])
    lines = [f"{count} x {name}" for name, count in common[:3]]
    return [*lines, "..."] if len(common) > 3 else lines


def _edges(calls, home):
    """One edge between two cards, however many values go along it; edges that have vanished are dashed."""
    found = {}
    for call in calls:
        for name, mark in _reads(call):
            ends = home.get(name), home[call.name]
            if ends[0] is None or ends[0] == ends[1]:
                continue
            found.setdefault(ends, [0, set()])
            found[ends][0] += 1
            found[ends][1].add(mark)
    return [_edge(k, ends, times, marks) for k, (ends, (times, marks)) in enumerate(found.items())]


def _reads(call):
    """(name, mark) of each value that a call takes now, or took before."""
    if call.mark != "changed":
        return [(name, call.mark) for name in call.reads]
    now = [(name, "added" if name in call.gained else "same") for name in call.reads]
    return now + [(name, "vanished") for name in sorted(call.lost)]


def _edge(number, ends, times, marks):
    state = marks.pop() if len(marks) == 1 else "same"
    return {
        "id": f"e{number}",
        "from": ends[0],
        "out": None,
        "to": ends[1],
        "in": None,
        "times": times,
        "state": state if state in ("added", "vanished") else "",
    }


__all__ = ["Call", "fx"]
