"""A table of gradients as DOT: one HTML table."""

from html import escape

from graphviz import Digraph

from viz.grads_trace import OUTCOMES
from viz.tensors import human_bytes
from viz.theme import fill, line

_ROLES = {"leaf": "leaf", "retained": "retained", "non-leaf": "nonleaf", "none": "pale"}


def digraph(trace):
    """A ``graphviz.Digraph`` with one node."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    rows = "".join(map(_row, trace.nodes)) or "<TR><TD>no tensors</TD></TR>"
    dot.node("grads", f'<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="4">{rows}</TABLE>>')
    return dot


def _row(node):
    role = _ROLES[node["kind"]]
    cells = [node["label"], node["what"], node["kind"], human_bytes(node["bytes"]), OUTCOMES[node["kind"]]]
    look = f'COLOR="{line(role)}" BGCOLOR="{fill(role)}"'
    return "<TR>" + "".join(f"<TD {look}>{escape(cell) or ' '}</TD>" for cell in cells) + "</TR>"
