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
    raise NotImplementedError


def changed_somewhere(graph):
    """The nodes whose own value a later node changes in place: the first argument of each node that changes memory."""
    raise NotImplementedError


def merge_common(graph):
    """Replace a call by an earlier one that computes the same; return how many went.

    Two calls are the same if op, target and arguments are. Not merged: random draws; calls with a change of memory between
    them; calls whose own value is changed somewhere, since each of the two needs memory of its own.
    """
    raise NotImplementedError
