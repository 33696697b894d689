"""Who holds which state, as DOT."""

from viz import cells_dot
from viz.zero_svg import ROLES, rows_of


def digraph(trace):
    """A ``graphviz.Digraph``."""
    return cells_dot.digraph(trace, rows_of(trace), ROLES)
