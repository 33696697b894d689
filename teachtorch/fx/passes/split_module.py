"""`split_module`: cuts a graph into submodules, one for each part that a callback names."""
import operator

from ..graph import Graph
from ..graph_module import GraphModule
from ..node import map_arg


class Partition:
    """A part while it is filled: its own graph, and what goes in and out."""

    def __init__(self, name):
        self.name = name
        self.submodule = f"submod_{name}"
        self.nodes, self.inputs, self.outputs = [], {}, {}
        self.depends_on = {}


def split_module(m, root_m, split_callback, qualname_map=None):
    """A GraphModule that calls `submod_<part>` for each part, and does what `m` does.

    Args:
        m: the GraphModule to cut.
        root_m: the module that its targets are taken from.
        split_callback: node -> the name of its part, such as a number. Inputs and attributes belong to none.
        qualname_map: a dict that is filled with {name in the part: name in `m`} of what its nodes call.

    RuntimeError if two parts need each other's values. torch.fx.passes.split_module.split_module.
    """
    part_of, partitions = assign(m.graph, split_callback)
    connect(m.graph, part_of, partitions)
    outer, env, submodules = Graph(), {}, {}
    for node in m.graph.find_nodes(op="placeholder"):
        env[node] = outer.node_copy(node)
    for partition in in_order(partitions):
        submodules[partition.submodule] = build(partition, root_m, qualname_map)
        call(partition, outer, env, m.graph)
    result = m.graph.output_node().args[0]
    outer.output(map_arg(result, lambda n: value_of(n, env, outer)))
    attributes = {n.target: operator.attrgetter(n.target)(root_m) for n in outer.find_nodes(op="get_attr")}
    return GraphModule({**submodules, **attributes}, outer)


def assign(graph, split_callback):
    """({node: its Partition}, {name: Partition})."""
    part_of, partitions = {}, {}
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        name = str(split_callback(node))
        part_of[node] = partitions.setdefault(name, Partition(name))
        part_of[node].nodes.append(node)
    return part_of, partitions


def connect(graph, part_of, partitions):
    """Note which values go from part to part, to the parts from outside, and out of them."""
    for node in graph.nodes:
        user = part_of.get(node)
        for used in node.all_input_nodes:
            maker = part_of.get(used)
            if maker is user:
                continue
            if maker is not None:
                maker.outputs[used] = True
            if user is not None and used.op != "get_attr":
                user.inputs[used] = True
            if user is not None and maker is not None:
                user.depends_on[maker.name] = maker


def in_order(partitions):
    """The parts so that each comes after those it depends on."""
    left, done = list(partitions.values()), {}
    while left:
        ready = next((p for p in left if all([name in done for name in p.depends_on])), None)
        if ready is None:
            raise RuntimeError("cycle exists between partitions!")
        left.remove(ready)
        done[ready.name] = ready
    return list(done.values())


def build(partition, root, qualname_map):
    """The part as a GraphModule of its own."""
    graph, env = Graph(), {}
    for used in partition.inputs:
        env[used] = graph.placeholder(used.name)
        env[used].meta = dict(used.meta)
    for node in partition.nodes:
        for used in node.all_input_nodes:
            if used.op == "get_attr" and used not in env:
                env[used] = graph.node_copy(used)
        env[node] = graph.node_copy(node, env.__getitem__)
        if qualname_map is not None and node.op == "call_module":
            qualname_map[f"{partition.submodule}.{node.target}"] = node.target
    outputs = [env[node] for node in partition.outputs]
    graph.output(outputs[0] if len(outputs) == 1 else tuple(outputs))
    return GraphModule(root, graph)


def call(partition, outer, env, graph):
    """The call of the part in the outer graph; `env` learns what its results are."""
    made = outer.call_module(partition.submodule,
                             tuple([value_of(used, env, outer) for used in partition.inputs]))
    outputs = list(partition.outputs)
    for i, node in enumerate(outputs):
        env[node] = made if len(outputs) == 1 else outer.call_function(operator.getitem, (made, i))


def value_of(node, env, outer):
    """What stands for a node in the outer graph; attributes are read there when something asks."""
    if node not in env and node.op == "get_attr":
        env[node] = outer.node_copy(node)
    return env[node]
