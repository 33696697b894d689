"""The hooks of a Trainer's run as DOT: a table for each part of the run, in the order of time."""

from html import escape
from itertools import pairwise

from graphviz import Digraph

from viz.theme import fill, line

_ROLES = {"step": "nonleaf", "module": "leaf", "callback": "retained", "default": "op", "empty": "pale", "fold": "fold"}


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    parts = _parts(trace.nodes)
    for first, nodes in parts:
        dot.node(first, f'<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0">{"".join(map(_row, nodes))}</TABLE>>')
    for (before, _), (after, _) in pairwise(parts):
        dot.edge(before, after)
    return dot


def _parts(nodes):
    """(id, rows) of each section."""
    found = []
    for node in nodes:
        if node["kind"] == "section" or not found:
            found.append((node["id"], []))
        found[-1][1].append(node)
    return found


def _row(node):
    words = f"{'  ' * node['depth']}{node['label']}  {', '.join(node['who'])}".rstrip()
    role = _ROLES.get(node["kind"], "band")
    shown = escape(words).replace("  ", "&#160;&#160;")
    shown = f"<B>{shown}</B>" if node["kind"] == "section" else shown
    return f'<TR><TD ALIGN="LEFT" COLOR="{line(role)}" BGCOLOR="{fill(role)}">{shown}</TD></TR>'
