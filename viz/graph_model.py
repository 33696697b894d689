"""What the autograd graph of some tensors looks like, gathered before it is written down as a trace."""

import re
from collections import Counter

from viz.collapse import collapse
from viz.engine_order import run_order
from viz.saved import saved_items, take_storages
from viz.walk import walk

PORT_LIMIT = 12
_QUEUE_NODES = 2000
_QUEUE_SHOWN = 6


class GraphModel:
    """A walked graph with its engine order, its folds, and the names of everything in it.

    roots: list of tensors. names: a ``names.Names``. saved: read what the nodes saved.
    """

    def __init__(self, roots, names, saved, max_nodes):
        self.roots, self.names, self.graph = roots, names, walk(roots)
        big = len(self.graph.nodes) > _QUEUE_NODES
        self.visits = run_order(self.graph, queue_limit=0 if big else _QUEUE_SHOWN)
        self.order = [visit.node for visit in self.visits]
        self.folds = collapse(self.graph, self.order, max_nodes)
        self.arrivals = self.graph.arrivals()
        self.inputs_used = self._inputs_used()
        self.created = self._creation_ranks()
        self._name_counts = Counter(map(self.graph.name, self.created))
        self.card = self._cards()
        self.storages, self.saved = {}, {}
        if saved:
            self._read_saved()

    def _inputs_used(self):
        """For each node, the backward inputs that some gradient reaches."""
        used = [set() for _ in self.graph.nodes]
        for edge in [e for edges in self.graph.edges for e in edges if e] + self.graph.roots:
            used[edge[0]].add(edge[1])
        return used

    def _creation_ranks(self):
        """Sequence numbers counted from the oldest node here: the absolute ones differ from run to run."""
        backbone = [i for i in self.order if not self.graph.is_leaf(i)]
        oldest_first = sorted(backbone, key=self.graph.sequence)
        return {node: rank for rank, node in enumerate(oldest_first)}

    def _cards(self):
        """The id of the card that shows each node, numbered in engine order."""
        self.fold_of = {node: number for number, fold in enumerate(self.folds) for node in fold.members}
        cards, ids = {}, {}
        for node in self.order:
            unit = self.fold_of.get(node, ("alone", node))
            cards[node] = ids.setdefault(unit, f"n{len(ids)}")
        return cards

    def _read_saved(self):
        for node in self.order:
            if self.graph.is_leaf(node):
                continue
            items = saved_items(self.graph.nodes[node], self.names)
            self.storages.update(take_storages(items))
            self.saved[node] = items

    def folded(self, node):
        return node in self.fold_of

    def edge_ends(self, node, slot):
        """(card, slot, card, input_nr) of an edge as drawn; folds, where edges merge, have no slots."""
        target, input_nr = self.graph.edges[node][slot]
        if self.folded(node) or self.folded(target):
            return self.card[node], None, self.card[target], None
        return self.card[node], slot if slot < PORT_LIMIT else "more", self.card[target], input_nr

    def output_names(self, node, slot):
        """The user's names for output ``slot`` of the operation that made ``node``."""
        return self.names.at(self.output_key(node, slot))

    def output_key(self, node, slot):
        return ("output", id(self.graph.nodes[node]), slot)

    def output_tensor(self, node, slot):
        """A tensor of the user's that is this output, or None."""
        return self.names.tensors.get(self.output_key(node, slot))

    def retains_grad(self, node, slot):
        return bool(getattr(self.output_tensor(node, slot), "retains_grad", False))

    def root_card(self, tensor):
        """The id of the card of a root; None for a tensor that is no root."""
        return next((f"r{k}" for k, root in enumerate(self.roots) if root is tensor), None)

    def leaf_names(self, node):
        return self.names.of(self.graph.nodes[node].variable)

    def label(self, node):
        """What a sentence calls the node; equal names are told apart by order of creation."""
        if not self.graph.is_leaf(node):
            name = self.graph.name(node)
            return name if self._name_counts[name] == 1 else f"{name} #{self.created[node]}"
        known = self.leaf_names(node)
        return known[0] if known else "an unnamed leaf"

    def spent(self, node):
        """ "freed" or "changed" if a saved tensor of ``node`` cannot be used any more, else ""."""
        states = {item["state"] for item in self.saved.get(node, ())}
        return next((state for state in ("freed", "changed") if state in states), "")

    def first_spent(self):
        """The first node, in engine order, at which a backward would fail; None if none would."""
        return next((node for node in self.order if self.spent(node)), None)


def edge_id(ends):
    """``n0.1>n4.0``: slot 1 of n0 to input 0 of n4."""
    source, out, target, into = ends
    return f"{source}.{'*' if out is None else out}>{target}.{'*' if into is None else into}"


def forward_name(name):
    """``MulBackward0`` is the backward of ``mul``. A custom Function keeps its class name."""
    match = re.fullmatch(r"(\w+?)Backward(\d*)", name)
    if not match:
        return name
    stem, number = match.groups()
    stem = re.sub(r"(\d)D", r"\1d", stem)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower() if number else stem
