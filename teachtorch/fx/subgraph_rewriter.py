"""Replacing every place where a graph looks like a pattern."""
from collections import namedtuple

from .graph import Graph
from .graph_module import GraphModule, adopt
from .node import Node, map_arg
from .tracer import symbolic_trace

Match = namedtuple("Match", ["anchor", "nodes_map"])
Match.__doc__ = "One place: `anchor`, the node that makes the pattern's result; `nodes_map`: {pattern's node: node}."


def replace_pattern(gm, pattern, replacement):
    """Replace in `gm` each part that computes what `pattern` does by what `replacement` does; returns the Matches.

    Both are functions or modules that can be traced, with as many parameters as each other. A part is left as it is if
    something outside of it uses a value from its middle, or if it overlaps a part that was replaced before it.
    """
    pattern_graph, replacement_graph = graph_of(pattern), graph_of(replacement)
    check_parameters(pattern_graph, replacement_graph)
    matches = find_matches(gm.graph, pattern_graph)
    if isinstance(replacement, GraphModule):
        bring_along(gm, replacement)
    changed = {}
    for match in matches:
        insert(gm.graph, match, pattern_graph, replacement_graph, changed)
    gm.recompile()
    return matches


def graph_of(pattern):
    if isinstance(pattern, Graph):
        return pattern
    return pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


def check_parameters(pattern, replacement):
    counts = [len(graph.find_nodes(op="placeholder")) for graph in (pattern, replacement)]
    if counts[0] != counts[1]:
        raise ValueError(f"the pattern has {counts[0]} parameters and the replacement {counts[1]}")


def bring_along(gm, replacement):
    """Give `gm` the submodules and attributes that the replacement refers to."""
    for node in replacement.graph.nodes:
        if node.op in ("get_attr", "call_module") and not has_attribute(gm, node.target):
            adopt(gm, replacement, node.target)


def has_attribute(module, target):
    for atom in target.split("."):
        if not hasattr(module, atom):
            return False
        module = getattr(module, atom)
    return True


# ---- finding ----------------------------------------------------------------------------------------------------------

def find_matches(graph, pattern):
    """The places of `graph` that look like `pattern`, none overlapping another."""
    found, taken = [], set()
    last = pattern.output_node().args[0]
    if not isinstance(last, Node):
        raise NotImplementedError("a pattern returns one value")
    for node in graph.nodes:
        nodes_map = {}
        if not looks_like(node, last, nodes_map):
            continue
        inner = inner_nodes(nodes_map)
        if not taken & set(inner) and is_closed(inner, node):
            taken.update(inner)
            found.append(Match(node, nodes_map))
    return found


def looks_like(node, pattern, nodes_map):
    """Whether `node` and what leads to it match the pattern's node; fills nodes_map."""
    if pattern in nodes_map:
        return nodes_map[pattern] is node
    if pattern.op == "placeholder":
        nodes_map[pattern] = node                  # whatever the part takes as an input
        return True
    if not isinstance(node, Node) or node.op != pattern.op or node.target != pattern.target:
        return False
    nodes_map[pattern] = node
    return (argument_looks_like(tuple(node.args), tuple(pattern.args), nodes_map)
            and argument_looks_like(dict(node.kwargs), dict(pattern.kwargs), nodes_map))


def argument_looks_like(argument, pattern, nodes_map):
    if isinstance(pattern, Node):
        return looks_like(argument, pattern, nodes_map)
    if isinstance(pattern, (tuple, list)):
        return isinstance(argument, (tuple, list)) and len(argument) == len(pattern) and all(
            [argument_looks_like(a, p, nodes_map) for a, p in zip(argument, pattern)])
    if isinstance(pattern, dict):
        return isinstance(argument, dict) and argument.keys() == pattern.keys() and all(
            [argument_looks_like(argument[key], pattern[key], nodes_map) for key in pattern])
    return not isinstance(argument, Node) and type(argument) is type(pattern) and argument == pattern


def inner_nodes(nodes_map):
    """The nodes that a match would remove: not those that stand for the pattern's inputs."""
    return [node for pattern, node in nodes_map.items() if pattern.op != "placeholder"]


def is_closed(inner, anchor):
    """Whether values from the middle of a part are used in the part alone."""
    return all([set(node.users) <= set(inner) for node in inner if node is not anchor])


# ---- replacing --------------------------------------------------------------------------------------------------------

def insert(graph, match, pattern, replacement, changed):
    """Put a copy of the replacement at the place of a match, and erase what it replaces.

    `changed`: {node that an earlier replacement removed: what stands for it now}.
    """
    inputs = [match.nodes_map[p] for p in pattern.find_nodes(op="placeholder") if p in match.nodes_map]
    values = {p: changed.get(node, node) for p, node in zip(replacement.find_nodes(op="placeholder"), inputs)}
    with graph.inserting_before(match.anchor):
        result = graph.graph_copy(replacement, values)
    if isinstance(result, Node):
        changed[match.anchor] = result
        match.anchor.replace_all_uses_with(result)
    else:
        replace_by_constant(match.anchor, result)
    for node in reversed(ordered(inner_nodes(match.nodes_map), graph)):
        if not node.users:
            graph.erase_node(node)


def replace_by_constant(anchor, value):
    for user in list(anchor.users):
        user.args = map_arg(user.args, lambda n: value if n is anchor else n)
        user.kwargs = map_arg(user.kwargs, lambda n: value if n is anchor else n)


def ordered(nodes, graph):
    wanted = set(nodes)
    return [node for node in graph.nodes if node in wanted]
