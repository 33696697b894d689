"""Common subexpressions: a node that computes what an earlier one has computed is replaced by it.

Three things must not be merged. Random nodes: two draws are two numbers. Nodes on both sides of a change in
memory: `x + 1` is another value after `x.add_(1)`. Values that are changed later: then both uses would see
the change.
"""
from ..node import Node
from .effects import changes_state, is_known, is_random, nodes_in_changed_memory


def eliminate_common_subexpressions(graph):
    """Merge nodes of a graph that compute the same; returns how many went."""
    kept_apart = nodes_in_changed_memory(graph)
    seen, count = {}, 0
    for node in graph.nodes:
        if changes_state(node):
            seen.clear()                          # what was computed before it may be another value now
            continue
        if not can_merge(node, kept_apart):
            continue
        first = seen.setdefault(key_of(node), node)
        if first is not node:
            node.replace_all_uses_with(first)
            graph.erase_node(node)
            count += 1
    return count


def can_merge(node, kept_apart):
    if node.op == "get_attr":
        return True                               # it is the same tensor anyway
    if node.op in ("placeholder", "output") or node in kept_apart:
        return False
    return is_known(node) and not is_random(node)


def key_of(node):
    """Equal for nodes that compute the same."""
    return node.op, node.target, key_of_argument(node.args), key_of_argument(dict(node.kwargs))


def key_of_argument(argument):
    """Equal for equal arguments of equal types: 1, 1.0 and True are three."""
    if isinstance(argument, Node):
        return argument
    if isinstance(argument, (tuple, list)):
        return type(argument), tuple([key_of_argument(item) for item in argument])
    if isinstance(argument, dict):
        return dict, tuple([(key, key_of_argument(argument[key])) for key in sorted(argument, key=str)])
    if isinstance(argument, slice):
        return slice, key_of_argument((argument.start, argument.stop, argument.step))
    if isinstance(argument, (int, float, complex)):
        return type(argument), repr(argument)     # so that 0.0 and -0.0 differ
    return type(argument), argument
