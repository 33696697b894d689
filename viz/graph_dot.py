"""A graph trace as DOT: one HTML table per card, one port per slot."""

from html import escape

from graphviz import Digraph

from viz.graph_cards import cards
from viz.theme import fill, line

_SIZES = {"name": 13, "small": 10}


def digraph(trace):
    """A ``graphviz.Digraph`` with fixed sizes, so that every program lays it out alike."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr(rankdir="TB", nodesep="0.3", ranksep="0.4", outputorder="edgesfirst")
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    dot.attr("edge", fontname="Courier", fontsize="10", color=line("op"), arrowsize="0.7")
    drawn = {card.id: card for card in cards(trace)}
    framed = {card for frame in trace.groups for card in frame["cards"]}
    for card in drawn.values():
        if card.id not in framed:
            _add_card(dot, card)
    _add_frames(dot, trace.groups, drawn, None)
    for edge in trace.edges:
        _add_edge(dot, edge, trace.options["direction"])
    return dot


def _add_card(dot, card):
    dot.node(card.id, _table(card), id=card.id, **{"class": card.role})


def _add_frames(dot, frames, drawn, parent):
    """A cluster per frame, inside the cluster of its parent."""
    for frame in frames:
        if frame["inside"] == parent:
            with dot.subgraph(name=f"cluster_{frame['id']}") as cluster:
                cluster.attr(label=frame["label"], labeljust="l", style="rounded", color=line("band"))
                cluster.attr(fontname="Courier", fontsize="11", margin="10")
                for card in frame["cards"]:
                    _add_card(cluster, drawn[card])
                _add_frames(cluster, frames, drawn, frame["id"])


def _add_edge(dot, edge, direction):
    source, target = _end(edge["from"], "o", edge["out"]), _end(edge["to"], "i", edge["in"])
    label = f"x{edge['times']}" if edge["times"] > 1 else ""
    if direction == "forward":
        dot.edge(target + ":s", source + ":n", label, id=edge["id"])
    else:
        dot.edge(source + ":s", target + ":n", label, id=edge["id"], dir="both" if direction == "both" else "forward")


def _end(card, prefix, slot):
    return card if slot is None else f"{card}:{prefix}{slot}"


def _table(card):
    rows = "".join(f"<TR><TD>{_row(row)}</TD></TR>" for row in card.rows)
    role = card.role.split()[0]
    return (
        f'<<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" STYLE="ROUNDED" '
        f'COLOR="{line(role)}" BGCOLOR="{fill(role)}">{rows}</TABLE>>'
    )


def _row(row):
    cells = "".join(_cell(cell, row.height) for cell in row.cells)
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"><TR>{cells}</TR></TABLE>'


def _cell(cell, height):
    look = f' PORT="{cell.port}"' if cell.port else ""
    if cell.role:
        look += f' BORDER="1" COLOR="{line(cell.role)}" BGCOLOR="{fill(cell.role)}"'
    size = next((size for css, size in _SIZES.items() if css in cell.css.split()), 11)
    text = f'<FONT POINT-SIZE="{size}">{_bold(cell)}</FONT>' if cell.text else ""
    return f'<TD FIXEDSIZE="TRUE" WIDTH="{cell.width:.0f}" HEIGHT="{height:.0f}"{look}>{text}</TD>'


def _bold(cell):
    text = escape(cell.text)
    return f"<B>{text}</B>" if "name" in cell.css.split() else text
