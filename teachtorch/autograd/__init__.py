"""Automatic differentiation: the graph, the engine that walks it, and what records it. Knows no operator by name."""
