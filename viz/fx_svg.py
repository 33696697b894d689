"""An fx graph as SVG: cards from inputs to output; marks where two graphs are compared."""

from viz.graph_svg import compose
from viz.svg_parts import rect

_CSS = """
.edge.added path{stroke:var(--added-line);stroke-width:2}.edge.added .head{fill:var(--added-line)}
.edge.vanished path{stroke:var(--vanished-line);stroke-dasharray:4 4}
.edge.vanished .head{fill:var(--vanished-line)}
.card.vanished>.box{stroke-dasharray:5 4}.card.vanished .name{opacity:.7}.card.added>.box{stroke-width:2}
""".replace("\n", "")
_OPS = {
    "retained": ("placeholder", "an input"),
    "saved": ("get_attr", "a parameter, buffer or constant of the module"),
    "op": ("call", "a function, a method, or a whole submodule"),
    "nonleaf": ("output", "what the function returns"),
    "fold": ("folded", "several nodes in one card"),
}
_MARKS = {
    "added": "only in the graph after",
    "vanished": "only in the graph before",
    "changed": "in both, with other arguments",
}


def draw(trace):
    """The complete SVG; raises ``dot.LayoutError`` without a layout program."""
    return compose(trace, _legend(trace), css=_CSS)


def role_of(node):
    """The colour of a card."""
    if node["mark"] in ("added", "vanished"):
        return node["mark"]
    if node["mark"] == "changed":
        return "accent"
    if node["kind"] == "calls":
        return "fold"
    return {"placeholder": "retained", "get_attr": "saved", "output": "nonleaf"}.get(node["op"], "op")


def _legend(trace):
    used = {role_of(node) for node in trace.nodes}
    marks = {node["mark"] for node in trace.nodes}
    items = [(_sample("accent" if mark == "changed" else mark), mark, words) for mark, words in _MARKS.items()
             if mark in marks]
    return items + [(_sample(role), word, words) for role, (word, words) in _OPS.items() if role in used]


def _sample(role):
    return rect(0, 0, 26, 14, f"{role} box", 4)
