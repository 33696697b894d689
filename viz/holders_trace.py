"""``viz.holders``: who keeps the memory of a tensor alive, and what would be freed without whom."""

import sys

from viz.engines import library_of
from viz.graph_steps import listed
from viz.holders_facts import from_ledger, from_public
from viz.names import find_names
from viz.picture import Picture
from viz.tensors import describe, human_bytes, require_storage
from viz.trace import Trace
from viz.wrap import counted

_LIMIT = 12  # tensors over the storage, holders of each, and rows of the table


def holders(tensor, names=None):
    """Who keeps the storage of ``tensor`` alive: variables, views, the graph, .grad, arrays; and what deleting frees.

    tensor: of teachtorch, which knows every reference, or of PyTorch, of which only names found here count as
    references from Python. names: as for ``viz.graph``. Raises TypeError for something that is not a tensor.
    """
    require_storage(tensor, "viz.holders")
    if library_of(tensor).__name__ == "teachtorch":
        from teachtorch.utils.holders import holders as ledger_of

        ledger = ledger_of(tensor, own_references=2)
        facts = from_ledger(ledger, find_names(names, sys._getframe(1)))
    else:
        facts = from_public(tensor, find_names(names, sys._getframe(1)))
    return Picture(holders_trace(facts, tensor))


def holders_trace(facts, asked):
    """The trace of one storage."""
    trace = Trace("holders", f"who holds the memory of {_name(facts, asked, 'a tensor')}")
    trace.groups = [{"id": "m", "label": "storage", "bytes": facts.nbytes, "size": human_bytes(facts.nbytes)}]
    for number, t in enumerate(facts.tensors[:_LIMIT]):
        trace.nodes.append(_tensor(facts, t, f"t{number}"))
        trace.edges.append({"id": f"t{number}-m", "from": f"t{number}", "to": "m"})
        _add_holders(trace, facts.holders[id(t)], f"t{number}")
    _add_holders(trace, facts.outside, "m")
    trace.options = {"rows": _rows(facts)}
    trace.notes = _notes(facts)
    return trace


def _name(facts, tensor, otherwise):
    known = facts.names.of(tensor)
    return known[0] if known else otherwise


def _tensor(facts, t, ident):
    return {
        "id": ident,
        "kind": "tensor",
        "label": _name(facts, t, "no name"),
        "what": describe(t.shape, t.dtype),
        "role": "view"
        if getattr(t, "_base", None) is not None
        else "leaf"
        if t.requires_grad and t.is_leaf
        else "result"
        if t.requires_grad
        else "plain",
    }


def _add_holders(trace, entries, of):
    """A node per holder. Of many the first are drawn, and the rest counted."""
    shown = entries if len(entries) <= _LIMIT else entries[: _LIMIT - 1]
    if len(shown) < len(entries):
        shown = [*shown, ("more", f"showing {len(shown)} of {len(entries)} holders")]
    for kind, words in shown:
        ident = f"h{sum(node['kind'] == 'holder' for node in trace.nodes)}"
        trace.nodes.append({"id": ident, "kind": "holder", "sort": kind, "label": words, "of": of})
        trace.edges.append({"id": f"{ident}-{of}", "from": ident, "to": of})


def _rows(facts):
    """What would be freed: without each keeper that has a name, and without all of these."""
    named = [t for t in facts.keepers if facts.names.of(t)][:_LIMIT]
    choices = [[t] for t in named] + ([named] if len(named) > 1 else [])
    rows = []
    for number, gone in enumerate(choices):
        left = [t for t in facts.keepers if not any(t is g for g in gone)]
        rows.append(
            {
                "id": f"d{number}",
                "label": "without "
                + (f"all {len(gone)}" if len(gone) > 5 else ", ".join(_name(facts, t, "") for t in gone)),
                "bytes": facts.freed(gone),
                "this": not left,
                "left": _left(facts, left),
                "several": len(left) > 1,
            }
        )
    return rows


def _left(facts, tensors):
    """Who still keeps the storage: ``loss and 1 tensor without a name``."""
    names = [_name(facts, t, "") for t in tensors if facts.names.of(t)]
    unnamed = len(tensors) - len(names)
    words = names[:4] + ([f"{len(names) - 4} more"] if len(names) > 4 else [])
    return listed(words + ([f"{counted(unnamed, 'tensor')} without a name here"] if unnamed else []))


def _notes(facts):
    notes = []
    if len(facts.tensors) > _LIMIT:
        notes.append(f"Showing {_LIMIT} of {len(facts.tensors)} tensors over this storage.")
    if facts.keepers:
        kept = _left(facts, facts.keepers)
        notes.append(f"The {human_bytes(facts.nbytes)} are freed at once when the last of these goes: {kept}.")
    if not facts.counted:
        notes.append("PyTorch does not tell who holds a tensor: only references by a name found here are known.")
    return notes
