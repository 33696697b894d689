"""Splitting a graph of forward and backward in two, and choosing what forward keeps for backward.

What backward needs of forward is either kept or computed again. Keeping costs memory traffic, computing again
costs little for a pointwise operator that is fused anyway. The cheapest choice is a minimum cut between what
must be kept somewhere (inputs, products, sums) and what backward reads; a value's capacity is its bytes.
"""
from collections import deque

from ..fx import Graph
from ..tensor import Tensor
from .effects import is_random, is_view
from .lowering import ChangedMemory
from .rules import RULES

ENDLESS = float("inf")
ONE_ELEMENT_RULES = frozenset(("gelu", "gelu_backward", "clone", "where", "masked_fill", "clamp"))


def partition(captured):
    """(the forward graph, the backward graph, how many values forward returns besides its results).

    Forward returns its results, then what is kept. Backward takes what is kept, then the tangents.
    """
    graph, count = captured.graph, captured.count
    outputs = graph.output_node().args[0]
    results, gradients = list(outputs[:count]), list(outputs[count:])
    tangents = [n for n in graph.nodes if n.op == "placeholder" and n.name.startswith("tangent_")]
    forward = forward_nodes(graph, tangents)
    wanted = [g for g in gradients if g is not None] + effects_of_backward(graph, forward)
    kept = choose_kept(graph, forward, results, wanted)
    return (forward_graph(graph, forward, results, kept),
            backward_graph(graph, kept, tangents, gradients, wanted),
            len(kept))


def forward_nodes(graph, tangents):
    """All nodes that were noted before the first tangent, and the inputs."""
    found = set()
    for node in graph.nodes:
        if node in tangents:
            break
        found.add(node)
    return found | {n for n in graph.nodes if n.op == "placeholder" and n not in tangents}


def effects_of_backward(graph, forward):
    """Backward's nodes that are computed for what they do to memory, whether or not a gradient reads them."""
    return [n for n in graph.nodes if n.op == "call_function" and n not in forward and has_effect(n)]


def choose_kept(graph, forward, results, wanted):
    """The forward values that backward gets to compute the nodes `wanted`, by minimum cut."""
    crossing = read_by_backward(forward, wanted)
    network = Network()
    pending, seen = list(crossing), set()
    can_repeat = repeatable(graph)
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        network.connect(("in", node), ("out", node), cost_of(node, results))
        if node in crossing:
            network.connect(("out", node), "backward", ENDLESS)
        if not can_repeat(node):
            network.connect("forward", ("in", node), ENDLESS)
            continue
        for argument in node.all_input_nodes:
            network.connect(("out", argument), ("in", node), ENDLESS)
            pending.append(argument)
    cut = network.minimum_cut("forward", "backward") if seen else set()
    return [n for n in graph.nodes if ("in", n) in cut and ("out", n) not in cut and n in seen]


def read_by_backward(forward, wanted):
    """The forward nodes that backward's nodes read, or that are gradients themselves."""
    used, crossing, pending = set(), {}, []
    for g in wanted:
        (crossing.setdefault(g) if g in forward else pending.append(g))
    while pending:
        node = pending.pop()
        if node in used:
            continue
        used.add(node)
        for argument in node.all_input_nodes:
            (crossing.setdefault(argument) if argument in forward else pending.append(argument))
    return crossing


def repeatable(graph):
    """A test whether a node may be computed again in backward, cheaply and with the same result."""
    changed = ChangedMemory(graph)

    def test(node):
        op = getattr(node.target, "_op", None)
        if node.op != "call_function" or op is None or is_random(node.target) or changed.touches(node):
            return False
        if any(changed.touches(n) for n in node.all_input_nodes) or not isinstance(node.meta.get("val"),
                                                                                   Tensor):
            return False
        kind = getattr(op.info, "kind", None)
        return not op.name.endswith("_") and (kind == "pointwise" or op.name in ONE_ELEMENT_RULES
                                              and op.name in RULES
                                              or is_view(node.target))
    return test


def cost_of(node, results):
    """Bytes to write and read a value; what is there anyway is only read. A tuple of results cannot be kept."""
    fake = node.meta.get("val")
    if not isinstance(fake, Tensor):
        return ENDLESS
    nbytes = max(fake.nbytes, 1)
    return nbytes if node.op == "placeholder" or node in results else 2 * nbytes


class Network:
    """Edges with capacities; `minimum_cut` by augmenting along shortest paths (Edmonds and Karp 1972)."""

    def __init__(self):
        self.capacity = {}

    def connect(self, a, b, capacity):
        self.capacity.setdefault(a, {}).setdefault(b, 0)
        self.capacity.setdefault(b, {}).setdefault(a, 0)
        self.capacity[a][b] += capacity

    def minimum_cut(self, source, sink):
        """The points that can still be reached from the source when the flow is greatest."""
        while True:
            came_from = self.reachable(source, sink)
            if sink not in came_from:
                return set(came_from)
            self.augment(came_from, sink)

    def reachable(self, source, sink):
        came_from, queue = {source: None}, deque([source])
        while queue and sink not in came_from:
            a = queue.popleft()
            for b, room in self.capacity.get(a, {}).items():
                if room > 0 and b not in came_from:
                    came_from[b] = a
                    queue.append(b)
        return came_from

    def augment(self, came_from, sink):
        path, b = [], sink
        while came_from[b] is not None:
            path.append((came_from[b], b))
            b = came_from[b]
        amount = min(self.capacity[a][b] for a, b in path)
        if amount == ENDLESS:
            raise AssertionError("a value that backward needs can neither be kept nor computed again")
        for a, b in path:
            self.capacity[a][b] -= amount
            self.capacity[b][a] += amount


# ---- the two graphs ----------------------------------------------------------------------------------------

def forward_graph(joint, forward, results, kept):
    graph, new = Graph(), {}
    for node in joint.nodes:
        if node in forward and node.op in ("placeholder", "call_function"):
            new[node] = graph.node_copy(node, lambda n: new[n])
    graph.output(tuple([new[n] for n in [*results, *kept]]))
    return graph


def backward_graph(joint, kept, tangents, gradients, wanted):
    graph, new = Graph(), {}
    for i, node in enumerate(kept):
        new[node] = given(graph, f"kept_{i}", node)
    for node in tangents:
        new[node] = given(graph, node.name, node)
    needed = reaching(wanted, set(new))
    for node in joint.nodes:
        if node in needed and node not in new:
            new[node] = graph.node_copy(node, lambda n: new[n])
    graph.output(tuple([None if g is None else new[g] for g in gradients]))
    return graph


def has_effect(node):
    op = getattr(node.target, "_op", None)
    return op is not None and (op.name.endswith("_") or is_random(node.target))


def given(graph, name, node):
    made = graph.placeholder(name)
    made.meta = dict(node.meta)
    return made


def reaching(nodes, known):
    """The nodes needed for these, as far as what is known."""
    found, pending = set(), list(nodes)
    while pending:
        node = pending.pop()
        if node not in found and node not in known:
            found.add(node)
            pending += node.all_input_nodes
    return found

