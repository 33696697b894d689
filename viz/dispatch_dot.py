"""A dispatch trace as DOT: one table."""

from html import escape

from graphviz import Digraph

from viz.dispatch_svg import ROLES, words_of
from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("node", shape="plain", fontname="Courier", fontsize="11")
    heads = "".join(f'<TD BORDER="0">{escape(key)}</TD>' for key in trace.options["columns"])
    rows = [
        f'<TR><TD BORDER="0"></TD>{heads}<TD BORDER="0"></TD></TR>',
        *(_row(trace, row) for row in trace.nodes),
    ]
    table = 'TABLE BORDER="0" CELLBORDER="1" CELLSPACING="2" CELLPADDING="4"'
    dot.node("dispatch", f"<<{table}>{''.join(rows)}</TABLE>>")
    return dot


def _row(trace, row):
    label = "&nbsp;&nbsp;" * row["depth"] + escape(row["label"])
    cells = "".join(_cell(trace, row["cells"].get(key)) for key in trace.options["columns"])
    side = 'BORDER="0" ALIGN="LEFT"'
    return f"<TR><TD {side}>{label}</TD>{cells}<TD {side}>{escape(row['where'])}</TD></TR>"


def _cell(trace, role):
    if role is None:
        return '<TD BORDER="0"></TD>'
    colours = f'COLOR="{line(ROLES[role])}" BGCOLOR="{fill(ROLES[role])}"'
    return f"<TD {colours}>{escape(words_of(role, trace.options['form']))}</TD>"
