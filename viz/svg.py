"""A trace as SVG."""

from importlib import import_module


def svg(trace):
    """A complete ``<svg>`` element, legible on light and dark pages and without any script."""
    return import_module(f"viz.{trace.kind}_svg").draw(trace)
