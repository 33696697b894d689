"""Two graphs compared, as SVG: one graph with marks, and two bars."""

from viz.graph_svg import compose
from viz.svg_parts import MARGIN, rect, text
from viz.tensors import human_bytes

_BAR = 330
_CSS = """
.edge.added path{stroke:var(--added-line);stroke-width:2}.edge.added .head{fill:var(--added-line)}
.edge.vanished path{stroke:var(--vanished-line);stroke-dasharray:4 4}
.edge.vanished .head{fill:var(--vanished-line)}
.card.vanished>.box{stroke-dasharray:5 4}.card.again>.box{stroke-dasharray:6 4}
.card.vanished .name{opacity:.7}
.card.added>.box{stroke-width:2}
""".replace("\n", "")


def draw(trace):
    """The complete SVG; raises ``dot.LayoutError`` without a layout program."""
    return compose(trace, _legend(trace), _bars(trace.options["saved_bytes"]), _CSS)


def _bars(sizes):
    """(svg with its top at 0, height)."""
    parts = []
    for number, (word, size) in enumerate(zip(("before", "after"), sizes, strict=True)):
        y, length = 22 * number, _BAR * size / max(sizes) if max(sizes) else 0
        parts.append(text(MARGIN, y + 13, f"saved {word}", "note word"))
        if length:
            parts.append(rect(MARGIN + 98, y + 2, max(2, length), 14, "saved box", 2))
        parts.append(text(MARGIN + 106 + length, y + 13, human_bytes(size), "small"))
    return "".join(parts), 54


def _legend(trace):
    words = {"added": "only in the graph after", "vanished": "only in the graph before", "same": "in both"}
    used = {node["mark"] for node in trace.nodes}
    again = rect(0, 0, 26, 14, "op box", 4, stroke_dasharray="6 4")
    dashed = [(again, "packed", "its saved tensors are computed again, or fetched, during backward()")]
    items = [
        (rect(0, 0, 26, 14, f"{'op' if mark == 'same' else mark} box", 4), mark, words[mark])
        for mark in words
        if mark in used
    ]
    return items + (dashed if any(node["again"] for node in trace.nodes) else [])
