"""The tree of a module as DOT: a table per module with its tensors, and edges from parents to children."""

from html import escape

from graphviz import Digraph

from viz.theme import fill, line

_ROLES = {"parameter": "leaf", "frozen": "pale", "buffer": "saved", "unsaved": "saved"}


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr(rankdir="LR", nodesep="0.15")
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    parents = []
    for node, tensors in _with_tensors(trace.nodes):
        dot.node(node["id"], _table(node, tensors))
        parents = [p for p in parents if p["depth"] < node["depth"]]
        if parents:
            dot.edge(parents[-1]["id"], node["id"])
        parents.append(node)
    return dot


def _with_tensors(nodes):
    """Each module or fold with the rows of its own tensors."""
    found = []
    for node in nodes:
        if "what" in node:
            found[-1][1].append(node)
        else:
            found.append((node, []))
    return found


def _table(node, tensors):
    title = " ".join([node["label"], node["type"], node["mode"], *node["words"]])
    role = "fold" if node["kind"] == "fold" else "op"
    rows = [_row(title, role, True)]
    if node["flow"]:
        rows.append(_row(node["flow"], "nonleaf"))
    rows += [
        _row(" ".join([t["label"], t["what"], t["size"], t["state"]]), _ROLES[t["kind"]]) for t in tensors
    ]
    return f'<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="4">{"".join(rows)}</TABLE>>'


def _row(words, role, bold=False):
    shown = escape(words.strip()) or " "
    shown = f"<B>{shown}</B>" if bold else shown
    return f'<TR><TD ALIGN="LEFT" COLOR="{line(role)}" BGCOLOR="{fill(role)}">{shown}</TD></TR>'
