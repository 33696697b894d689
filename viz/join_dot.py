"""The collectives of all ranks as DOT."""

from viz import cells_dot
from viz.join_svg import ROLES


def digraph(trace):
    """A ``graphviz.Digraph``."""
    return cells_dot.digraph(trace, [group for group in trace.groups if group["kind"] == "row"], ROLES)
