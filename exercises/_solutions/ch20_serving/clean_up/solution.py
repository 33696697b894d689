"""Two passes: dead code, and common subexpressions. The graphs are those of torch.fx, of functions and methods.

Nodes that change memory (their names end in "_", as `add_`) stay, whether their value is used or not. Draws of random
numbers are two even if they look alike.
"""
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
    # solution
    count = 0
    for node in reversed(graph.nodes):
        if node.op in ("placeholder", "output") or node.users or changes_memory(node):
            continue
        graph.erase_node(node)
        count += 1
    return count
    # end of solution


def changed_somewhere(graph):
    """The nodes whose own value a later node changes in place: the first argument of each node that changes memory."""
    # solution
    return {node.args[0] for node in graph.nodes if changes_memory(node)}
    # end of solution


def merge_common(graph):
    """Replace a call by an earlier one that computes the same; return how many went.

    Two calls are the same if op, target and arguments are. Not merged: random draws; calls with a change of memory between
    them; calls whose own value is changed somewhere, since each of the two needs memory of its own.
    """
    # solution
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
    # end of solution


# solution
def exact(argument):
    """Equal for equal arguments: 1 and 1.0 are two."""
    if isinstance(argument, (tuple, list)):
        return tuple([exact(part) for part in argument])
    if isinstance(argument, dict):
        return tuple([(key, exact(part)) for key, part in sorted(argument.items())])
    return argument if isinstance(argument, torch.fx.Node) else (type(argument), repr(argument))
# end of solution
