"""A trace of picked elements as DOT: a table for each tensor, an edge for each element that moves."""

from html import escape

from graphviz import Digraph

from viz.theme import fill, line

_ROLES = ("nonleaf", "leaf", "saved", "retained")


def digraph(trace):
    """A ``graphviz.Digraph``."""
    nodes = trace.by_id()
    dot = Digraph("viz", comment=trace.title)
    dot.attr(rankdir="TB", ranksep="0.9")
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    dot.attr("edge", color=line("nonleaf"), arrowsize="0.5")
    homes = {}
    for block in [block for row in trace.options["rows"] for block in row]:
        for number, panel in enumerate(block["panels"]):
            _add_panel(dot, f"{block['key']}grid{number}", block["name"], panel, nodes, homes)
    _add_edges(dot, nodes, homes)
    return dot


def _add_panel(dot, home, name, panel, nodes, homes):
    if panel is None or not any(panel["grid"]):
        dot.node(home, "..." if panel is None else f"{name}: no elements")
        return
    rows = "".join(f"<TR>{''.join(_cell(nodes.get(cell)) for cell in row)}</TR>" for row in panel["grid"])
    title = escape(f"{name}{panel['leading'] or ''}")
    head = f'<TR><TD BORDER="0" COLSPAN="{len(panel["columns"])}">{title}</TD></TR>'
    dot.node(home, f'<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="4">{head}{rows}</TABLE>>')
    homes.update({cell: home for row in panel["grid"] for cell in row if cell})


def _add_edges(dot, nodes, homes):
    """From what is read or written to the result; the index stands aside where there is a source."""
    has_source = any(node["block"] in ("i", "s") for node in nodes.values())
    start = ("i", "s") if has_source else ("x",)
    for node in nodes.values():
        if node["block"] not in start:
            continue
        for other in node["links"]:
            if nodes[other]["block"] == "o":
                dot.edge(f"{homes[node['id']]}:{node['id']}:s", f"{homes[other]}:{other}:n")


def _cell(node):
    if node is None:
        return '<TD BORDER="0">...</TD>'
    role = "pale" if node["colour"] is None else _ROLES[node["colour"]]
    colour = f'COLOR="{line(role)}" BGCOLOR="{fill(role)}"'
    return f'<TD PORT="{node["id"]}" {colour}>{escape(node["text"]) or " "}</TD>'
