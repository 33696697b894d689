"""An fx graph as DOT: the cards of a graph picture."""

from viz.graph_dot import digraph

__all__ = ["digraph"]
