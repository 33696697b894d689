"""Who holds the memory of a tensor: asked of teachtorch's ledger, or put together from what PyTorch shows."""

from dataclasses import dataclass, field
from typing import Any

from viz.live import live_tensors
from viz.saved import saved_names
from viz.tensors import describe, is_tensor, memory_of, storage_key, storage_size

_NODE_LIMIT = 5000


@dataclass
class Facts:
    """One storage. tensors: those over it, with [(kind, words)] of who holds each; outside: of who holds it itself.

    keepers: tensors that keep it alive, those with a name first. freed: a function of a list of tensors to
    the bytes that go when they go. counted: whether all of Python's references are known, not only those by a
    name.
    """

    nbytes: int
    tensors: list
    holders: dict
    outside: list
    keepers: list
    freed: Any
    counted: bool
    names: Any = field(default=None)


def from_ledger(ledger, names):
    """The facts of a teachtorch tensor."""
    found = {id(t): [_entry(holder, names) for holder in ledger.of(t)] for t in ledger.tensors}
    outside = [(holder.kind, holder.what) for holder in ledger.of(ledger.storage)]
    asked, *others = ledger.tensors
    tensors = [t for t in (asked, *by_name(others, names)) if found[id(t)]]
    keepers = by_name(ledger.keepers(), names)
    return Facts(ledger.nbytes, tensors, found, outside, keepers, lambda gone: ledger.freed_without(*gone), True, names)


def by_name(tensors, names):
    """Those with a name in alphabetical order, then the others: the order of living objects is chance."""
    return sorted(tensors, key=lambda t: (not names.of(t), names.of(t)[:1]))


def _entry(holder, names):
    if holder.kind == "python":
        return holder.kind, python_words(names.of(holder.held), holder.count)
    by = names.of(holder.by) if is_tensor(holder.by) else []
    if holder.kind == "view":
        return "view", f"its view {by[0]}" if by else "a view of it"
    if holder.kind == "grad":
        return "grad", f"{by[0] if by else describe(holder.by.shape, holder.by.dtype)}.grad"
    return holder.kind, holder.what


def python_words(names, count):
    """``x, y and 1 more reference``: the names are among the references that were counted."""
    shown = names[:3]
    more = count - len(shown)
    words = [*shown, f"{more} {'more ' if shown else ''}reference{'s' if more != 1 else ''}"] if more > 0 else shown
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# PyTorch: its public attributes


def from_public(tensor, names):
    """The facts of a PyTorch tensor; references from Python are those that have a name here."""
    key = storage_key(tensor)
    named = [t for t in names.tensors.values() if memory_of(t) is not None]
    alive = {id(t): t for t in [tensor, *named, *live_tensors(tensor)]}
    over = [t for t in alive.values() if memory_of(t) == key and (t is tensor or names.of(t))]
    reached = {id(t): reach([t]) for t in named}
    found = {id(t): _public_holders(t, over, alive.values(), names) for t in over}
    _place_saved(over, found, named, key)
    keepers = [t for t in named if key in reached[id(t)]]

    def freed(gone):
        dropped = {id(t) for t in gone}
        before, after = reach(named), reach([t for t in named if id(t) not in dropped])
        return sum(size for memory, size in before.items() if memory not in after)

    outside = [("shared", "shared with other processes")] if tensor.is_shared() else []
    return Facts(storage_size(tensor), over, found, outside, keepers, freed, False, names)


def _public_holders(t, over, alive, names):
    known = names.of(t)
    entries = [("python", python_words(known, len(known[:3])))] if known else []
    views = [v for v in over if v is not t and getattr(v, "_base", None) is t]
    entries += [("view", f"its view {names.of(v)[0]}" if names.of(v) else "a view of it") for v in views]
    owners = [o for o in alive if o.is_leaf and o.requires_grad and o.grad is t]
    entries += [("grad", f"{names.of(o)[0] if names.of(o) else 'a leaf'}.grad") for o in owners]
    return entries


def _place_saved(over, found, named, key):
    """Add what nodes saved, and the AccumulateGrad of a leaf, to the tensor that they hold."""
    for node in nodes_from(named):
        name = node.name().rpartition("::")[2]
        if hasattr(node, "variable"):
            for t in over:
                if node.variable is t:
                    found[id(t)].append(("leaf", "AccumulateGrad fills its .grad"))
            continue
        for saved, value in _saved(node):
            if memory_of(value) == key:
                found[id(_likest(over, value))].append(("saved", f"{name} saved it as {saved}"))


def _likest(over, value):
    """The tensor over the storage that looks at it as a saved one does; the first if none does."""
    same = [
        t
        for t in over
        if (t.shape, t.stride(), t.storage_offset()) == (value.shape, value.stride(), value.storage_offset())
    ]
    return (same or over)[0]


def _saved(node):
    """(name, tensor) of what a node still keeps."""
    for name in saved_names(node):
        try:
            value = getattr(node, f"_saved_{name}")
        except RuntimeError:
            continue
        if is_tensor(value):
            yield name, value


def nodes_from(tensors):
    """All nodes that the graphs of ``tensors`` reach, each once."""
    waiting = [t.grad_fn for t in tensors if t.grad_fn is not None]
    seen = {}
    while waiting and len(seen) < _NODE_LIMIT:
        node = waiting.pop()
        if node not in seen:
            seen[node] = True
            waiting += [edge for edge, _ in node.next_functions if edge is not None]
    return list(seen)


def reach(roots):
    """{storage: bytes} of everything that lives as long as ``roots`` do."""
    found = {}
    waiting = list(roots)
    for node in nodes_from(roots):
        waiting += [node.variable] if hasattr(node, "variable") else [value for _, value in _saved(node)]
    for t in waiting:
        if memory_of(t) is not None:
            found[memory_of(t)] = storage_size(t)
        if t.is_leaf and t.grad is not None and memory_of(t.grad) is not None:
            found[memory_of(t.grad)] = storage_size(t.grad)
    return found
