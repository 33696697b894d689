"""Walking an autograd graph, without recursion, through ``grad_fn`` and ``next_functions``."""

from dataclasses import dataclass, field

LEAF_SEQUENCE = 2**64 - 1


class LeafRoot:
    """Stands in for the AccumulateGrad node of a leaf that is a root: the engine makes it on demand."""

    next_functions = ()

    def __init__(self, variable):
        self.variable = variable

    def name(self):
        return "AccumulateGrad"

    def _sequence_nr(self):
        return LEAF_SEQUENCE


@dataclass
class Walk:
    """A graph as lists: ``edges[i][k]`` is the (node index, input_nr) that gradient ``k`` of node ``i`` goes
    to, or None.

    roots: (node index, input_nr) for each root tensor.
    """

    nodes: list = field(default_factory=list)
    edges: list = field(default_factory=list)
    roots: list = field(default_factory=list)

    def is_leaf(self, index):
        return hasattr(self.nodes[index], "variable")

    def name(self, index):
        """The node's name without its C++ namespace."""
        return self.nodes[index].name().rsplit("::", 1)[-1]

    def sequence(self, index):
        if self.is_leaf(index):
            return LEAF_SEQUENCE
        read = getattr(self.nodes[index], "_sequence_nr", None)
        return read() if read else 0

    def arrivals(self):
        """For each node, how many edges lead to it: what the engine calls its dependencies."""
        counts = [0] * len(self.nodes)
        for edges in self.edges:
            for edge in edges:
                if edge:
                    counts[edge[0]] += 1
        return counts


def walk(tensors):
    """The graph that ``backward()`` from ``tensors`` visits. Tensors that need no gradient are skipped."""
    graph, index = Walk(), {}
    needing = [t for t in tensors if t.requires_grad]
    for tensor in needing:
        if tensor.grad_fn is not None:
            _enter(graph, index, tensor.grad_fn)
    done = 0
    while done < len(graph.nodes):
        _follow(graph, index, done)
        done += 1
    graph.roots = [_root(graph, index, t) for t in needing]
    return graph


def _enter(graph, index, node):
    """The index of ``node``. The list keeps the node alive, so that its id stays its own."""
    if id(node) not in index:
        index[id(node)] = len(graph.nodes)
        graph.nodes.append(node)
        graph.edges.append([])
    return index[id(node)]


def _follow(graph, index, place):
    for node, input_nr in graph.nodes[place].next_functions:
        target = None if node is None else (_enter(graph, index, node), input_nr)
        graph.edges[place].append(target)


def _root(graph, index, tensor):
    if tensor.grad_fn is not None:
        return index[id(tensor.grad_fn)], getattr(tensor, "output_nr", 0)
    for place, node in enumerate(graph.nodes):
        if getattr(node, "variable", None) is tensor:
            return place, 0
    return _enter(graph, index, LeafRoot(tensor)), 0
