"""What can be found out about a tensor whose ``.grad`` is None, after the fact."""

from dataclasses import dataclass, field
from typing import Any

from viz.live import live_tensors
from viz.saved import saved_items, saved_values
from viz.tensors import is_tensor, memory_of
from viz.walk import walk

_READ_LIMIT = 2000


@dataclass
class Cut:
    """Evidence of a broken link: ``piece`` has the memory of ``source``, but not its graph.

    node: index of the node of the loss's graph that saved ``piece``, or whose leaf it is; None if the loss is
    not known to use it. is_view: ``piece`` is a leaf and a view, so it was made under no_grad().
    """

    node: int | None
    piece: Any
    source: Any
    is_view: bool


@dataclass
class Facts:
    """t, loss: the tensors, loss may be None. graph: the ``Walk`` of the loss. place: index of t in it.

    path: node indices from the loss to t. ran: "yes", "no" or "unknown", whether a backward went through.
    """

    t: Any
    loss: Any
    names: Any
    graph: Any = None
    place: int | None = None
    path: list = field(default_factory=list)
    ran: str = "unknown"
    filled: list = field(default_factory=list)
    cut: Cut | None = None
    ghost: Any = None
    twin: Any = None
    holders: list = field(default_factory=list)

    def name(self, tensor, otherwise="the tensor"):
        known = self.names.of(tensor)
        return known[0] if known else otherwise


def gather(t, loss, names, frame):
    """The ``Facts`` about ``t``. loss: a tensor or None. frame: where to look for optimizers."""
    facts = Facts(t, loss, names)
    facts.holders = _optimizers(frame)
    if not t.requires_grad:
        facts.twin = _twin(t, names)
    if loss is not None and loss.requires_grad:
        _look_into(facts)
    elif t.grad_fn is not None:
        facts.ran = _ran(walk([t]), names)
    return facts


def _look_into(facts):
    facts.graph = walk([facts.loss])
    facts.place = _place(facts.graph, facts.t)
    facts.ran = _ran(facts.graph, facts.names)
    facts.filled = [
        facts.name(node.variable, "an unnamed leaf")
        for node in facts.graph.nodes
        if getattr(node, "variable", None) is not None and node.variable.grad is not None
    ]
    if facts.place is not None:
        facts.path = path_to(facts.graph, facts.place)
    elif facts.t.requires_grad:
        facts.cut = _cut(facts)
        facts.ghost = _ghost(facts)


def _place(graph, t):
    """The node of ``t``: its grad_fn, or its AccumulateGrad."""
    for index, node in enumerate(graph.nodes):
        if node is t.grad_fn or getattr(node, "variable", None) is t:
            return index
    return None


def path_to(graph, target):
    """A shortest list of node indices from a root to ``target``."""
    came, queue = {place: None for place, _ in graph.roots}, [place for place, _ in graph.roots]
    for node in queue:
        for edge in graph.edges[node]:
            if edge and edge[0] not in came:
                came[edge[0]] = node
                queue.append(edge[0])
    path = [target]
    while came.get(path[-1]) is not None:
        path.append(came[path[-1]])
    return path[::-1]


def _ran(graph, names):
    """Freed saved tensors prove a backward; saved tensors still there make one unlikely."""
    states = set()
    for index, node in enumerate(graph.nodes[:_READ_LIMIT]):
        if not graph.is_leaf(index):
            states.update(item["state"] for item in saved_items(node, names))
    return "yes" if "freed" in states else "no" if "kept" in states else "unknown"


# Evidence among living tensors


def _twin(t, names):
    """A living tensor that shares the memory of ``t`` and requires grad: ``t`` was detached from it."""
    key = memory_of(t)
    matches = [o for o in live_tensors(t) if o is not t and o.requires_grad and key and memory_of(o) == key]
    return next(iter(sorted(matches, key=lambda o: (not names.of(o), tuple(o.shape) != tuple(t.shape)))), None)


def _cut(facts):
    """The first piece of the loss's graph, or else named tensor, in the memory of a result of ``t``."""
    below = {memory_of(o): o for o in _dependents(live_tensors(facts.t), facts.t)}
    below[memory_of(facts.t)] = facts.t
    below.pop(None, None)
    for node, piece in [*_pieces(facts.graph), *((None, o) for o in facts.names.tensors.values() if o.is_leaf)]:
        source = below.get(memory_of(piece))
        if source is not None and piece is not source:
            return Cut(node, piece, source, made_under_no_grad(piece))
    return None


def made_under_no_grad(tensor):
    """A leaf that says requires_grad=True as a view of what requires grad: no graph was recorded for it."""
    base = getattr(tensor, "_base", None)
    return tensor.is_leaf and tensor.requires_grad and base is not None and base.requires_grad


def _pieces(graph):
    """(node, tensor) for the leaves of a graph, and for what its nodes saved of tensors without graph."""
    found = []
    for index, node in enumerate(graph.nodes[:_READ_LIMIT]):
        values = [node.variable] if graph.is_leaf(index) else saved_values(node)
        found += [(index, value) for value in values if value.is_leaf]
    return found


def _dependents(tensors, t):
    """The tensors that were computed from ``t``, by one walk over all their graphs."""
    results = [o for o in tensors if o.requires_grad and o.grad_fn is not None]
    graph = walk(results)
    place = _place(graph, t)
    if place is None:
        return []
    above = _ancestors(graph, place)
    ids = {id(graph.nodes[node]) for node in above}
    return [o for o in results if id(o.grad_fn) in ids]


def _ancestors(graph, place):
    """Every node from which a gradient can come to ``place``, itself included."""
    sources = {}
    for node, edges in enumerate(graph.edges):
        for edge in filter(None, edges):
            sources.setdefault(edge[0], []).append(node)
    found, stack = {place}, [place]
    while stack:
        fresh = set(sources.get(stack.pop(), ())) - found
        found |= fresh
        stack += fresh
    return found


def _ghost(facts):
    """A leaf that the loss reaches and that has no name any more: the earlier owner of the name of ``t``."""
    nameless = [
        node.variable
        for node in facts.graph.nodes
        if getattr(node, "variable", None) is not None and not facts.names.of(node.variable)
    ]
    below = [n.variable for n in walk([facts.t]).nodes if hasattr(n, "variable")] if facts.t.grad_fn else []
    shared = [leaf for leaf in nameless if any(leaf is other for other in below)]
    like = [leaf for leaf in nameless if tuple(leaf.shape) == tuple(facts.t.shape)]
    return next(iter(shared or like), None)


def _optimizers(frame):
    """(name, parameters) of every optimizer among the variables of ``frame``."""
    found = []
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        groups = getattr(value, "param_groups", None) if not isinstance(value, type) else None
        if isinstance(groups, list) and not name.startswith("_"):
            found.append((name, [p for g in groups for p in g.get("params", ()) if is_tensor(p)]))
    return found
