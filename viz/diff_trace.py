"""``viz.diff``: what a change did to a graph: nodes that came or went, and the bytes saved for backward."""

import sys
from difflib import SequenceMatcher

from viz.graph_model import GraphModel, forward_name
from viz.graph_trace import graph_trace, roots_of
from viz.names import find_names
from viz.picture import Picture
from viz.tensors import human_bytes
from viz.trace import Trace
from viz.wrap import counted

MAX_NODES = 40
_CHANGED = "changed in place"


def diff(before, after, *, names=None):
    """One picture of two graphs: added nodes green, vanished ones red, and bars of saved bytes.

    Try it with and without ``.detach()``, a checkpoint, an in-place operation. An in-place operation changes
    the graph you have, so take ``before = viz.graph(y)`` first: a picture stays as it was.

    before, after: a tensor of teachtorch or PyTorch, a list of tensors, or a ``viz.graph`` picture.
    names: as for ``viz.graph``.
    Raises TypeError for anything else, ValueError for a picture of another kind.
    """
    known = find_names(names, sys._getframe(1))
    return Picture(_diff_trace(_graph_of(before, known), _graph_of(after, known)))


def _graph_of(what, known):
    if isinstance(what, Picture):
        if what.trace.kind != "graph":
            raise ValueError(f"viz.diff compares graphs; this is a picture of kind {what.trace.kind!r}")
        return what.trace
    return graph_trace(GraphModel(roots_of(what, "viz.diff"), known, True, MAX_NODES), "backward")


def _diff_trace(before, after):
    trace = Trace("diff", f"{_subject(before)} → {_subject(after)}: what changed")
    pairs = _pairs(before.nodes, after.nodes)
    trace.nodes = [_merged(f"d{k}", old, new) for k, (old, new) in enumerate(pairs)]
    trace.edges = _edges(before, after, pairs)
    sizes = [before.options.get("saved_bytes", 0), after.options.get("saved_bytes", 0)]
    trace.options = {"direction": "backward", "saved_bytes": sizes, "hint": ""}
    trace.notes = _notes(trace)
    return trace


def _subject(trace):
    return trace.title.split(" of ", 1)[-1]


# Which node is which


def _pairs(before, after):
    """(old, new) in an order that suits both graphs; None stands for a node that is missing on that side."""
    keys = [[_key(node) for node in nodes] for nodes in (before, after)]
    pairs = []
    for word, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if word == "equal":
            pairs += zip(before[a:b], after[c:d], strict=True)
        else:
            pairs += [(node, None) for node in before[a:b]] + [(None, node) for node in after[c:d]]
    return _leaves_joined(pairs)


def _key(node):
    """Roots are the same whatever they are called; a leaf is known by its name."""
    if node["kind"] in ("root", "ended"):
        return "root"
    return f"leaf {node['label']}" if node["kind"] == "leaf" else node["label"]


def _leaves_joined(pairs):
    """A leaf that only stands elsewhere in the order has neither come nor gone."""
    gone = {_key(old): old for old, new in pairs if new is None and old["kind"] == "leaf"}
    come = {_key(new) for old, new in pairs if old is None and new["kind"] == "leaf"}
    joined = []
    for old, new in pairs:
        if new is None and old["kind"] == "leaf" and _key(old) in come:
            continue
        joined.append((gone.get(_key(new)) if old is None and new["kind"] == "leaf" else old, new))
    return joined


# Cards and edges


def _merged(number, old, new):
    node = new or old
    mark = "vanished" if new is None else "added" if old is None else "same"
    return {
        "id": number,
        "kind": "diff",
        "was": node["kind"],
        "label": _label(old, new),
        "what": node.get("what") or (forward_name(node["label"]) if node["kind"] == "op" else ""),
        "mark": mark,
        "saved": [_saved_bytes(old), _saved_bytes(new)],
        "notes": _changes(old, new),
        "again": new is not None and _recomputed(new),
    }


def _label(old, new):
    """The root may have two names."""
    labels = [node["label"] for node in (old, new) if node is not None]
    return labels[0] if len(set(labels)) == 1 else " → ".join(labels)


def _saved_bytes(node):
    if node is None:
        return 0
    if node["kind"] == "fold":
        return node["saved_bytes"]
    return sum(item["bytes"] for item in node.get("saved", ()))


def _recomputed(node):
    """Known only where the graph says so: packed saved tensors, or the node of a reentrant checkpoint."""
    return "Checkpoint" in node["label"] or any(item["state"] == "packed" for item in node.get("saved", ()))


def _changes(old, new):
    """What happened to saved tensors of a node that is in both graphs."""
    if old is None or new is None:
        return []
    before = {item["name"]: item["state"] for item in old.get("saved", ())}
    words = {"changed": _CHANGED, "freed": "freed", "packed": "packed by a hook"}
    return [
        f"saved {item['name']}: {words[item['state']]}"
        for item in new.get("saved", ())
        if item["state"] in words and before.get(item["name"]) != item["state"]
    ]


def _edges(before, after, pairs):
    """Every edge of either graph, between merged nodes."""
    places = [
        {pair[side]["id"]: f"d{k}" for k, pair in enumerate(pairs) if pair[side] is not None}
        for side in (0, 1)
    ]
    found = {}
    for side, trace in enumerate((before, after)):
        for edge in trace.edges:
            ends = places[side][edge["from"]], places[side][edge["to"]]
            found.setdefault(ends, [0, 0])[side] += edge["times"]
    return [_edge(number, ends, times) for number, (ends, times) in enumerate(found.items())]


def _edge(number, ends, times):
    state = "added" if not times[0] else "vanished" if not times[1] else "same"
    return {
        "id": f"e{number}",
        "from": ends[0],
        "out": None,
        "to": ends[1],
        "in": None,
        "times": times[1] or times[0],
        "state": state,
    }


def _notes(trace):
    marks = [node["mark"] for node in trace.nodes]
    added, gone = marks.count("added"), marks.count("vanished")
    if not added and not gone and not any(node["notes"] for node in trace.nodes):
        nodes = "No node came or went."
    else:
        moved = f"{counted(added, 'node')} added, {counted(gone, 'node')} vanished"
        nodes = f"{moved}, {marks.count('same')} as before."
    old, new = trace.options["saved_bytes"]
    notes = [nodes, f"Storage kept alive for backward: {human_bytes(old)} before, {human_bytes(new)} after."]
    if any(note.endswith(_CHANGED) for node in trace.nodes for note in node["notes"]):
        notes.append("What was changed in place cannot be read any more and is not counted.")
    if any(node["again"] for node in trace.nodes):
        notes.append("Dashed nodes packed what they saved: a checkpoint computes it again during backward().")
    return notes
