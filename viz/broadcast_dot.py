"""A broadcasting trace as DOT: one table."""

from html import escape

from graphviz import Digraph

from viz.broadcast_svg import ROLES
from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    columns, nodes = range(trace.options["dims"], 0, -1), trace.by_id()
    rows = [
        _row(name, [nodes[f"c{number}_{c}"] for c in columns])
        for number, name in enumerate(trace.options["names"])
    ]
    rows.append(_row("result", [nodes[f"r{c}"] for c in columns]))
    table = 'TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="5"'
    dot.node("shapes", f"<<{table}>{''.join(rows)}</TABLE>>")
    return dot


def _row(name, cells):
    return f'<TR><TD BORDER="0">{escape(name)}</TD>{"".join(map(_cell, cells))}</TR>'


def _cell(node):
    role = ROLES.get(node.get("role"), "nonleaf")
    words = node["text"] or "(1)"
    into = f" -&gt; {node['into']}" if node.get("into") else ""
    return f'<TD COLOR="{line(role)}" BGCOLOR="{fill(role)}">{escape(words)}{into}</TD>'
