"""Removes in-place calls that nobody uses."""

FAILS = "test_in_place"
SAYS = "changes x"
import teachtorch as torch

RANDOM = ("rand_like", "randn_like", "dropout", "bernoulli")


def name_of(node):
    """The plain name of what a node calls."""
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def changes_memory(node):
    return node.op in ("call_function", "call_method") and name_of(node).endswith("_")


def remove_dead(graph):
    """Erase the calls that nobody uses and that change no memory; return how many. Inputs stay.

    A node may be dead only because the one that used it was.
    """
    count = 0
    for node in reversed(graph.nodes):
        if node.op in ("placeholder", "output") or node.users:
            continue
        graph.erase_node(node)
        count += 1
    return count


def changed_somewhere(graph):
    """The nodes whose own value a later node changes in place: the first argument of each node that changes memory."""
    return {node.args[0] for node in graph.nodes if changes_memory(node)}


def merge_common(graph):
    """Replace a call by an earlier one that computes the same; return how many went.

    Two calls are the same if op, target and arguments are. Not merged: random draws; calls with a change of memory between
    them; calls whose own value is changed somewhere, since each of the two needs memory of its own.
    """
    seen, count, apart = {}, 0, changed_somewhere(graph)
    for node in graph.nodes:
        if changes_memory(node):
            seen.clear()
        elif node.op in ("call_function", "call_method") and name_of(node) not in RANDOM and node not in apart:
            key = node.op, node.target, exact(node.args), exact(node.kwargs)
            first = seen.setdefault(key, node)
            if first is not node:
                node.replace_all_uses_with(first)
                graph.erase_node(node)
                count += 1
    return count


def exact(argument):
    """Equal for equal arguments: 1 and 1.0 are two."""
    if isinstance(argument, (tuple, list)):
        return tuple([exact(part) for part in argument])
    if isinstance(argument, dict):
        return tuple([(key, exact(part)) for key, part in sorted(argument.items())])
    return argument if isinstance(argument, torch.fx.Node) else (type(argument), repr(argument))
