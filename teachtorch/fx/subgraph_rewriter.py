"""Replacing every place where a graph looks like a pattern.

A pattern is a small graph: its placeholders match anything, its other nodes match nodes with the same op,
target and arguments. `find_matches` looks for it from its results backward; `insert` puts the replacement
there.
"""
from collections import namedtuple
from dataclasses import dataclass, field
from operator import attrgetter

from ..nn import Module
from ..tensor import Tensor
from .graph import Graph, has_attribute
from .graph_module import GraphModule, adopt
from .node import Node, map_arg
from .tracer import symbolic_trace

Match = namedtuple("Match", ["anchor", "nodes_map"])
Match.__doc__ = ("One place: `anchor`, the pattern's node that makes its result; `nodes_map`: "
                 "{pattern's node: node}.")


@dataclass
class ReplacedPatterns:
    """One place that was replaced: as Match, and the nodes that stand there now."""

    anchor: Node
    nodes_map: dict
    replacements: list


@dataclass
class InternalMatch:
    """A place while it is decided on: what filters are asked about.

    `anchors`: the pattern's nodes that make its results. `placeholder_nodes`: what stands for the pattern's
    inputs. `returning_nodes`: the graph's nodes that make its results.
    """

    anchors: list
    nodes_map: dict = field(default_factory=dict)
    placeholder_nodes: list = field(default_factory=list)
    returning_nodes: list = field(default_factory=list)

    def inner(self):
        """The graph's nodes that a replacement would remove."""
        return [node for pattern, node in self.nodes_map.items() if pattern.op != "placeholder"]


def replace_pattern(gm, pattern, replacement):
    """Replace in `gm` each part that computes what `pattern` does by what `replacement` does; returns the Matches.

    Both are functions or modules that can be traced, with as many parameters as each other. A part is left as
    it is if something outside of it uses a value from its middle, or if it overlaps a part that was replaced
    before it.
    """
    return [Match(r.anchor, r.nodes_map) for r in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False,
                                 replacement_callback=None):
    """`replace_pattern` for those places alone that every filter accepts; returns ReplacedPatterns.

    Args:
        match_filters: functions of (InternalMatch, the graph, the pattern's graph) that return a bool.
        ignore_literals: whether a number or string of the pattern matches any other.
        replacement_callback: (InternalMatch, the graph, the pattern's graph) -> the replacement's Graph for
            that place.
    """
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either replacement GraphModule or replacement_callback")
    pattern_graph = graph_of(pattern)
    matches = [m for m in find_matches(gm.graph, pattern_graph, ignore_literals)
               if all([accepts(m, gm.graph, pattern_graph) for accepts in match_filters or ()])]
    common = None if replacement is None else graph_of(replacement)
    bring_along(gm, replacement, common)
    done, changed = [], {}
    for match in matches:
        graph = common if common is not None else replacement_callback(match, gm.graph, pattern_graph)
        done.append(insert(gm.graph, match, pattern_graph, graph, changed))
    gm.recompile()
    return done


def graph_of(pattern):
    if isinstance(pattern, Graph):
        return pattern
    return pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


def bring_along(gm, replacement, graph):
    """Give `gm` the submodules and attributes that the replacement refers to."""
    if not isinstance(replacement, Module):
        return
    for node in graph.nodes:
        if node.op in ("get_attr", "call_module") and not has_attribute(gm, node.target):
            adopt(gm, replacement, node.target, node)


# ---- finding ---------------------------------------------------------------------------------------------

def find_matches(graph, pattern, ignore_literals=False):
    """The InternalMatches in `graph`, none overlapping another, in the order of their first result."""
    anchors = pattern.output_node().all_input_nodes
    if not anchors:
        raise ValueError("the pattern returns nothing that depends on what it computes")
    placeholders = pattern.find_nodes(op="placeholder")
    place = {node: i for i, node in enumerate(graph.nodes)}
    found, taken = [], set()
    for node in graph.nodes:
        nodes_map = match_anchors(anchors, [node], graph, {}, ignore_literals)
        if nodes_map is None:
            continue
        match = InternalMatch(anchors, nodes_map, [nodes_map[p] for p in placeholders if p in nodes_map],
                              [nodes_map[a] for a in anchors])
        inner = match.inner()
        if inner and not taken & set(inner) and is_closed(match) and fits_in_one_place(match, place):
            taken.update(inner)
            found.append(match)
    return found


def match_anchors(anchors, candidates, graph, nodes_map, ignore_literals):
    """A nodes_map in which every anchor has a node, the first one of `candidates`; None if there is none."""
    if not anchors:
        return nodes_map
    first, *others = anchors
    if first in nodes_map:
        return match_anchors(others, graph.nodes, graph, nodes_map, ignore_literals)
    for node in candidates:
        trial = dict(nodes_map)
        if node.op != "output" and looks_like(node, first, trial, ignore_literals):
            whole = match_anchors(others, graph.nodes, graph, trial, ignore_literals)
            if whole is not None:
                return whole
    return None


def looks_like(node, pattern, nodes_map, ignore_literals):
    """Whether `node` and what leads to it match the pattern's node; fills nodes_map. Two nodes never match one."""
    if pattern in nodes_map:
        return nodes_map[pattern] is node
    if isinstance(node, Node) and any([node is taken for taken in nodes_map.values()]):
        return False
    if pattern.op == "placeholder":
        nodes_map[pattern] = node                  # whatever the part takes as an input
        return True
    if not isinstance(node, Node) or node.op != pattern.op or not same_target(node, pattern):
        return False
    nodes_map[pattern] = node
    return (argument_looks_like(tuple(node.args), tuple(pattern.args), nodes_map, ignore_literals)
            and argument_looks_like(dict(node.kwargs), dict(pattern.kwargs), nodes_map, ignore_literals))


def same_target(node, pattern):
    """Submodules match by name; attributes match if both are tensors, since a pattern brings its own."""
    owners = node.graph.owning_module, pattern.graph.owning_module
    if node.op == "get_attr" and None not in owners:
        ours, theirs = [attrgetter(n.target)(owner) for owner, n in zip(owners, (node, pattern))]
        return isinstance(ours, Tensor) and isinstance(theirs, Tensor) or ours is theirs
    return node.target == pattern.target


def argument_looks_like(argument, pattern, nodes_map, ignore_literals):
    if isinstance(pattern, Node):
        return looks_like(argument, pattern, nodes_map, ignore_literals)
    if isinstance(pattern, (tuple, list)):
        return isinstance(argument, (tuple, list)) and len(argument) == len(pattern) and all(
            [argument_looks_like(a, p, nodes_map, ignore_literals) for a, p in zip(argument, pattern)])
    if isinstance(pattern, dict):
        return isinstance(argument, dict) and argument.keys() == pattern.keys() and all(
            [argument_looks_like(argument[key], pattern[key], nodes_map, ignore_literals) for key in pattern])
    if isinstance(argument, Node):
        return False
    return ignore_literals or type(argument) is type(pattern) and argument == pattern


def is_closed(match):
    """Whether values from the middle of a part are used in the part alone."""
    inner = set(match.inner())
    return all([set(node.users) <= inner for node in inner if node not in match.returning_nodes])


def fits_in_one_place(match, place):
    """Whether all inputs are there before the first result is used: the replacement stands between them."""
    last_input = max([place[n] for n in match.placeholder_nodes if isinstance(n, Node)], default=-1)
    return last_input < place[where_to_insert(match, place)]


def where_to_insert(match, place):
    """The first node that uses a result; a single result's own place is always right."""
    if len(match.returning_nodes) == 1:
        return match.returning_nodes[0]
    inner = set(match.inner())
    users = [user for node in match.returning_nodes for user in node.users if user not in inner]
    return min(users or match.returning_nodes, key=place.get)


# ---- replacing -------------------------------------------------------------------------------------------

def insert(graph, match, pattern, replacement, changed):
    """Put a copy of the replacement at the place of a match, erase what it replaces; returns its ReplacedPatterns.

    `changed`: {node that an earlier replacement removed: what stands for it now}.
    """
    values = values_of_inputs(match, pattern, replacement, changed)
    given = set(values)
    place = {node: i for i, node in enumerate(graph.nodes)}
    with graph.inserting_before(where_to_insert(match, place)):
        result = graph.graph_copy(replacement, values)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    check_results(results, match)
    for old, new in zip(match.returning_nodes, results):
        replace_value(old, new)
        changed[old] = new
    for node in reversed([n for n in graph.nodes if n in set(match.inner())]):
        if not node.users:
            graph.erase_node(node)
    return ReplacedPatterns(match.anchors[0], match.nodes_map,
                            [new for old, new in values.items() if old not in given])


def values_of_inputs(match, pattern, replacement, changed):
    """{placeholder of the replacement: what stands for the pattern's one in the graph}."""
    theirs, ours = [g.find_nodes(op="placeholder") for g in (pattern, replacement)]
    if len(theirs) != len(ours):
        raise AssertionError(f"Placeholder count mismatch: the pattern has {len(theirs)} parameters and the "
                             f"replacement {len(ours)}")
    values = {}
    for p, r in zip(theirs, ours):
        if p not in match.nodes_map and r.users:
            raise KeyError(f"{p}: the replacement uses a parameter that the pattern does not")
        node = match.nodes_map.get(p)
        values[r] = changed.get(node, node) if isinstance(node, Node) else node
    return values


def check_results(results, match):
    if len(results) != len(match.returning_nodes):
        raise AssertionError(f"the pattern returns {len(match.returning_nodes)} values and the replacement "
                             f"{len(results)}")


def replace_value(old, new):
    """Let the users of `old` take `new`, a node or a constant."""
    if isinstance(new, Node):
        old.replace_all_uses_with(new)
        return
    for user in list(old.users):
        user.args = map_arg(user.args, lambda n: new if n is old else n)
        user.kwargs = map_arg(user.kwargs, lambda n: new if n is old else n)
