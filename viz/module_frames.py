"""Which nodes belong to which module, as far as a graph tells: a node belongs where its parameters belong.

A graph records operations, not modules. Operations without parameters, such as relu, are taken to belong to
the module whose parts stand on all sides of them; at the rim of a module that cannot be told, and they stay
outside.
"""

from itertools import takewhile

from viz.tensors import is_module


def module_frames(model, module):
    """Groups for a graph trace: one frame per module that has nodes, inside the frames of its parents.

    model: a ``GraphModel``. module: an ``nn.Module`` of either library. Raises TypeError for anything else.
    """
    if not is_module(module):
        raise TypeError(f"modules must be an nn.Module, got {type(module).__name__}")
    by_node = _between(model.graph, _node_owners(model, _parameter_owners(module)))
    owners = _card_owners(model, by_node)
    kinds = {path: type(part).__name__ for path, part in module.named_modules()}
    paths = _needed_paths(set(owners.values()), kinds)
    ids = {path: f"m{number}" for number, path in enumerate(paths)}
    return [
        {
            "id": ids[path],
            "label": f"{path or 'model'} ({kinds[path]})",
            "inside": next((ids[p] for p in reversed(paths) if p != path and _is_within(path, p)), None),
            "cards": [card for card, owner in owners.items() if owner == path],
        }
        for path in paths
    ]


def _parameter_owners(module):
    """{id of parameter: path of the module that owns it}."""
    return {id(p): path.rpartition(".")[0] for path, p in module.named_parameters()}


def _card_owners(model, by_node):
    """{card: module path}; a card that folds nodes of several modules has none."""
    found = {}
    for node in model.order:
        found.setdefault(model.card[node], set()).add(by_node.get(node))
    return {card: owners.pop() for card, owners in found.items() if len(owners) == 1 and owners != {None}}


def _node_owners(model, parameters):
    """{node: module path} for the nodes that use parameters of one module."""
    owners = _prepared_parameters(model, parameters)
    using = {}
    for node in model.order:
        used = {owners[edge[0]] for edge in model.graph.edges[node] if edge and edge[0] in owners}
        if node not in owners and len(used) == 1:
            using[node] = used.pop()
    return {**owners, **using}


def _between(graph, owners):
    """Give groups of operations without parameters to the module that surrounds them."""
    owners, near = dict(owners), _neighbours(graph)
    roots, done = {place for place, _ in graph.roots}, set(owners)
    for start in range(len(graph.nodes)):
        if start not in done:
            group = _group(start, near, owners)
            done |= group
            rim = [owners[n] for node in group for n in near[node] if n in owners]
            around = "" if group & roots or any(map(graph.is_leaf, group)) else _common(rim)
            owners.update({node: around for node in group if around})
    return owners


def _neighbours(graph):
    near = [set() for _ in graph.nodes]
    for node, edges in enumerate(graph.edges):
        for edge in edges:
            if edge:
                near[node].add(edge[0])
                near[edge[0]].add(node)
    return near


def _group(start, near, owners):
    """Everything without owner that hangs together with ``start``."""
    group, stack = {start}, [start]
    while stack:
        fresh = {n for n in near[stack.pop()] if n not in owners} - group
        group |= fresh
        stack += fresh
    return group


def _common(paths):
    """The longest module path that all paths begin with."""
    shared = takewhile(lambda words: len(set(words)) == 1, zip(*(path.split(".") for path in paths), strict=False))
    return ".".join(words[0] for words in shared)


def _prepared_parameters(model, parameters):
    """The module of each parameter's leaf, and of operations on it alone, such as its transpose."""
    graph, owners = model.graph, {}
    for node in reversed(model.order):
        edges = graph.edges[node]
        if graph.is_leaf(node):
            owner = parameters.get(id(graph.nodes[node].variable))
        else:
            owner = owners.get(edges[0][0]) if len(edges) == 1 and edges[0] else None
        if owner is not None:
            owners[node] = owner
    return owners


def _needed_paths(owners, kinds):
    """Owners, and the parents that hold at least two of them, outermost first."""
    parents = [
        path for path in kinds if path and path not in owners and sum(_is_within(owner, path) for owner in owners) > 1
    ]
    return sorted({*owners, *parents}, key=lambda path: (path.count(".") + bool(path), path))


def _is_within(path, parent):
    return not parent or path.startswith(parent + ".")
