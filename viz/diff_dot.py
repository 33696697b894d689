"""Two graphs compared, as DOT: the cards of a graph picture with marks."""

from viz.graph_dot import digraph

__all__ = ["digraph"]
