"""Lets the merged calls stand, dead."""

import teachtorch as torch

FAILS = "test_merge"
SAYS = "computed no more"


RANDOM = ("rand_like", "randn_like", "dropout", "bernoulli")


def name_of(node):
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def changes_memory(node):
    return node.op in ("call_function", "call_method") and name_of(node).endswith("_")


def remove_dead(graph):
    count = 0
    for node in reversed(graph.nodes):
        if node.op in ("placeholder", "output") or node.users or changes_memory(node):
            continue
        graph.erase_node(node)
        count += 1
    return count


def changed_somewhere(graph):
    return {node.args[0] for node in graph.nodes if changes_memory(node)}


def merge_common(graph):
    seen, count, apart = {}, 0, changed_somewhere(graph)
    for node in graph.nodes:
        if changes_memory(node):
            seen.clear()
        elif node.op in ("call_function", "call_method") and name_of(node) not in RANDOM and node not in apart:
            key = node.op, node.target, exact(node.args), exact(node.kwargs)
            first = seen.setdefault(key, node)
            if first is not node:
                node.replace_all_uses_with(first)
                count += 1
    return count


def exact(argument):
    if isinstance(argument, (tuple, list)):
        return tuple([exact(part) for part in argument])
    if isinstance(argument, dict):
        return tuple([(key, exact(part)) for key, part in sorted(argument.items())])
    return argument if isinstance(argument, torch.fx.Node) else (type(argument), repr(argument))
