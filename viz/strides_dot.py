"""A stride trace as DOT: the grid and the storage as two tables, an edge from every element to its slot."""

from html import escape

from graphviz import Digraph

from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph``."""
    nodes = trace.by_id()
    dot = Digraph("viz", comment=trace.title)
    dot.attr(rankdir="TB", ranksep="0.9")
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    dot.attr("edge", color=line("nonleaf"), arrowsize="0.5")
    for number, panel in enumerate(trace.options["panels"]):
        _add_panel(dot, f"grid{number}", panel, nodes)
    _add_storage(dot, trace.options["storage"], nodes)
    return dot


def _add_panel(dot, name, panel, nodes):
    if panel is None or not any(panel["grid"]):
        dot.node(name, "..." if panel is None else "no elements")
        return
    dot.node(name, _table([[nodes.get(cell) for cell in row] for row in panel["grid"]]))
    for cell in [cell for row in panel["grid"] for cell in row if cell]:
        for slot in nodes[cell]["links"]:
            dot.edge(f"{name}:{cell}:s", f"storage:{slot}:n")


def _add_storage(dot, storage, nodes):
    rows = [
        [None] if row is None else [nodes[f"s{k}"] for k in range(row[0], row[1] + 1)]
        for row in storage["rows"]
    ]
    dot.node("storage", _table(rows) if storage["slots"] else "storage: empty")


def _table(rows):
    body = "".join(f"<TR>{''.join(map(_cell, row))}</TR>" for row in rows)
    return f'<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="4">{body}</TABLE>>'


def _cell(node):
    if node is None:
        return '<TD BORDER="0">...</TD>'
    used = node["kind"] == "cell" or node["used"]
    colour = f'COLOR="{line("nonleaf" if used else "pale")}" BGCOLOR="{fill("nonleaf" if used else "pale")}"'
    number = f"<BR/>{node['number']}" if node["kind"] == "slot" else ""
    return f'<TD PORT="{node["id"]}" {colour}>{escape(node["text"]) or " "}{number}</TD>'
