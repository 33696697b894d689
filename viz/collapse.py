"""Choosing which nodes of a big graph get a card of their own.

Repetitions fold first: in engine order, runs of nodes with the same names, wired the same way, show their
first and last copy, or the first, or none, as room allows. If that is not enough, the middle of the graph
becomes one card. A fold is always a run of nodes that are neighbours in engine order, so folding can never
make a cycle. A crowd of leaves under one node folds always.
"""

from collections import Counter
from dataclasses import dataclass, field

LONGEST_PATTERN = 128
_PATTERN_WORK = 2_000_000
_COPIES = 4
LEAVES_PER_NODE = 8


@dataclass
class Fold:
    """Nodes that share one card.

    members: node indices. pattern: names of the repeated nodes, or () for a mixture. times: repetitions.
    """

    members: list
    pattern: tuple = ()
    times: int = 1
    kinds: Counter = field(default_factory=Counter)


def collapse(graph, order, max_nodes):
    """Folds that bring ``graph`` down to about ``max_nodes`` cards.

    graph: a ``walk.Walk``. order: node indices in engine order. Returns a list of Fold.
    """
    backbone = [i for i in order if not graph.is_leaf(i)]
    folds = _with_leaves(graph, backbone)
    if _card_count(graph, folds) <= max_nodes:
        return folds
    runs = _repetitions(_marks(graph, backbone), backbone)
    for ends in ((1, 1), (1, 0), (0, 0)):
        pieces = _pieces(graph, runs, *ends)
        folds = _with_leaves(graph, pieces)
        if _card_count(graph, folds) <= max_nodes:
            return folds
    return _fold_middle(graph, pieces, max_nodes)


def _marks(graph, backbone):
    """A number per node of the backbone, equal for equal names and wiring."""
    place = {node: position for position, node in enumerate(backbone)}
    known = {}
    signatures = [
        (graph.name(node), tuple(_wire(graph, place, node, e) for e in graph.edges[node]))
        for node in backbone
    ]
    return [known.setdefault(signature, len(known)) for signature in signatures]


def _wire(graph, place, node, edge):
    """Where an edge leads: a leaf, a near node by its distance, a far one (shared by copies) by itself."""
    if edge is None:
        return None
    target, input_nr = edge
    if graph.is_leaf(target):
        return "leaf", input_nr
    distance = place[target] - place[node]
    return distance if distance <= LONGEST_PATTERN else ("node", target), input_nr


def _repetitions(marks, backbone):
    """Split ``backbone`` into runs of equal copies, left to right, each run as long as possible."""
    longest = max(1, min(LONGEST_PATTERN, _PATTERN_WORK // max(1, len(marks))))
    matches = {period: _match_lengths(marks, period) for period in range(1, longest + 1)}
    runs, start = [], 0
    while start < len(backbone):
        period, copies = _best_run(matches, start)
        runs.append([backbone[start + k * period : start + (k + 1) * period] for k in range(copies)])
        start += period * copies
    return runs


def _match_lengths(marks, period):
    """For each position, how many positions from it on equal the one ``period`` later."""
    lengths = [0] * (len(marks) + 1)
    for position in range(len(marks) - period - 1, -1, -1):
        if marks[position] == marks[position + period]:
            lengths[position] = lengths[position + 1] + 1
    return lengths


def _best_run(matches, start):
    best = (1, 1)
    for period, lengths in matches.items():
        copies = lengths[start] // period + 1
        if copies >= _COPIES and period * copies > best[0] * best[1]:
            best = (period, copies)
    return best


def _pieces(graph, runs, head, tail):
    """Single nodes and Folds: a repetition shows its first ``head`` and last ``tail`` copies."""
    pieces = []
    for copies in runs:
        if len(copies) < _COPIES:
            pieces += _flat(copies)
            continue
        hidden = copies[head : len(copies) - tail]
        members = _flat(hidden)
        pattern = tuple(graph.name(node) for node in copies[0])
        fold = Fold(members, pattern, len(hidden), _kinds(graph, members))
        pieces += [*_flat(copies[:head]), fold, *_flat(copies[len(copies) - tail :])]
    return pieces


def _flat(copies):
    return [node for copy in copies for node in copy]


def _kinds(graph, members):
    return Counter(graph.name(node) for node in members)


def _with_leaves(graph, pieces):
    """The folds among ``pieces``, with the leaves that only they reach, and folds of crowds of leaves."""
    folds = [Fold(list(p.members), p.pattern, p.times, p.kinds) for p in pieces if isinstance(p, Fold)]
    owner = {node: number for number, fold in enumerate(folds) for node in fold.members}
    crowds = {}
    for leaf, users in _leaf_users(graph).items():
        owners = {owner.get(user, ("node", user)) for user in users}
        if len(owners) == 1:
            _give_leaf(folds, crowds, leaf, owners.pop())
    return folds + [_leaf_fold(graph, leaves) for leaves in crowds.values() if len(leaves) > LEAVES_PER_NODE]


def _give_leaf(folds, crowds, leaf, owner):
    if isinstance(owner, int):
        folds[owner].members.append(leaf)
    else:
        crowds.setdefault(owner, []).append(leaf)


def _leaf_fold(graph, leaves):
    middle = leaves[2:-1]
    return Fold(middle, ("AccumulateGrad",), len(middle), _kinds(graph, middle))


def _leaf_users(graph):
    users = {}
    for node, edges in enumerate(graph.edges):
        for edge in edges:
            if edge and graph.is_leaf(edge[0]):
                users.setdefault(edge[0], []).append(node)
    return users


def _card_count(graph, folds):
    return len(graph.nodes) - sum(len(fold.members) - 1 for fold in folds)


def _fold_middle(graph, pieces, max_nodes):
    """Keep as many pieces at both ends as fit into ``max_nodes`` cards; the rest becomes one Fold."""
    low, high = 1, len(pieces)
    while low < high:
        keep = (low + high + 1) // 2
        fits = _card_count(graph, _with_leaves(graph, _joined(graph, pieces, keep))) <= max_nodes
        low, high = (keep, high) if fits else (low, keep - 1)
    return _with_leaves(graph, _joined(graph, pieces, low))


def _joined(graph, pieces, keep):
    head, tail = (keep + 1) // 2, len(pieces) - keep // 2
    members = [node for piece in pieces[head:tail] for node in _members(piece)]
    if len(members) < 2:
        return pieces
    return [*pieces[:head], Fold(members, (), 1, _kinds(graph, members)), *pieces[tail:]]


def _members(piece):
    return piece.members if isinstance(piece, Fold) else [piece]
