"""A graph trace as SVG: the cards where the layout program puts them."""

from viz import dot
from viz.graph_cards import cards
from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_MIN_WIDTH = 620
_CSS = """
.frame{fill:var(--band);fill-opacity:.55;stroke:var(--band-line)}.frame-name{font-weight:600;fill:var(--muted)}
.box{stroke-width:1.2}.edge path{fill:none;stroke:var(--op-line);stroke-width:1.3}
.edge .head{fill:var(--op-line);stroke:none}.edge .back{fill:var(--paper);stroke:var(--nonleaf-line)}
.word{font-weight:600;fill:var(--ink)}.label{fill:var(--paper)}
.hot-value{fill:var(--accent-line)}.cold-value{fill:var(--nonleaf-line)}
.done{opacity:.58}.done.now,.done.hot{opacity:1}
.ready>.box{stroke:var(--accent-line);stroke-dasharray:5 3;stroke-width:2}
.now>.box{fill:var(--accent);stroke:var(--accent-line);stroke-width:2.6;stroke-dasharray:none}
.edge.now path,.edge.hot path{stroke:var(--accent-line);stroke-width:2.6}
.edge.now .head,.edge.hot .head{fill:var(--accent-line)}
.hot>.box{stroke:var(--accent-line);stroke-width:2}
.failed>.box{fill:var(--ended);stroke:var(--ended-line);stroke-width:2.6}
.freed>text{text-decoration:line-through;fill:var(--muted)}
.freed>.box{fill:none;stroke:var(--pale-line);stroke-dasharray:3 2}
.value rect{transition:fill-opacity .25s}.p1 rect{fill:var(--accent-line);fill-opacity:.12}
.p2 rect{fill:var(--accent-line);fill-opacity:.25}
.p3 rect{fill:var(--accent-line);fill-opacity:.4}.m1 rect{fill:var(--nonleaf-line);fill-opacity:.12}
.m2 rect{fill:var(--nonleaf-line);fill-opacity:.25}.m3 rect{fill:var(--nonleaf-line);fill-opacity:.4}
.flying>g>rect{stroke:var(--accent-line);fill:var(--paper)}.flying .cell{fill-opacity:0}
.flying .p1 .cell,.flying .m1 .cell{fill-opacity:.12}.flying .p2 .cell,.flying .m2 .cell{fill-opacity:.25}
.flying .p3 .cell,.flying .m3 .cell{fill-opacity:.4}
.live{display:none}.gone>.box{stroke-dasharray:3 2}.queue{font-weight:600;fill:var(--accent-line)}
""".replace("\n", "")


def draw(trace):
    """The complete SVG; raises ``dot.LayoutError`` without a layout program."""
    return compose(trace, _legend_items(trace))


def compose(trace, legend_items, block=("", 0), css=""):
    """Title, a block of (svg, height), the laid out cards, and the legend."""
    drawn = cards(trace)
    plan = _Plan(dot.layout(dot.source(trace)))
    width = max(_MIN_WIDTH, plan.width + 2 * MARGIN)
    head, top = header(trace, width)
    head += group(block[0], transform=f"translate(0 {number(top)})")
    top += block[1]
    left = (width - plan.width) / 2
    graph = group(
        _frames(trace, plan) + _edges(trace, plan) + "".join(_card(c, *plan.nodes[c.id]) for c in drawn),
        transform=f"translate({number(left)} {number(top)})",
    )
    queue, y = _queue(trace, top + plan.height + 8)
    key, y = legend(legend_items, y + 12, width)
    return document(trace, head + graph + queue + key, width, y + MARGIN - 6, _CSS + css)


# Layout


class _Plan:
    """What the layout program said, with y downwards: centres of nodes and splines of edges."""

    def __init__(self, layout):
        _, _, self.width, self.height = map(float, layout["bb"].split(","))
        self.nodes = {o["name"]: self._point(o["pos"]) for o in layout.get("objects", ()) if "pos" in o}
        self.frames = {o["name"]: o["bb"] for o in layout.get("objects", ()) if "bb" in o}
        self.edges = {e["id"]: self._spline(e["pos"]) for e in layout.get("edges", ())}
        self.labels = {e["id"]: self._point(e["lp"]) for e in layout.get("edges", ()) if "lp" in e}

    def _point(self, pair):
        x, y = map(float, pair.split(","))
        return x, self.height - y

    def _spline(self, pos):
        """Control points from tail to head, the arrow tips included."""
        start, end, points = None, None, []
        for part in pos.split(";")[0].split():
            if part.startswith("s,"):
                start = self._point(part[2:])
            elif part.startswith("e,"):
                end = self._point(part[2:])
            else:
                points.append(self._point(part))
        return start, points, end


# Frames and edges


def _frames(trace, plan):
    """Rounded frames behind the cards, outermost first."""
    parts = []
    for frame in trace.groups:
        left, low, right, high = map(float, plan.frames[f"cluster_{frame['id']}"].split(","))
        top = plan.height - high
        box = rect(left, top, right - left, high - low, "frame", 10)
        parts.append(group(box + text(left + 10, top + 15, frame["label"], "small frame-name"), data_id=frame["id"]))
    return "".join(parts)


def _edges(trace, plan):
    return "".join(_edge(edge, plan, trace.options["direction"]) for edge in trace.edges)


def _edge(edge, plan, direction):
    start, points, end = plan.edges[edge["id"]]
    path = f"M{_pair(points[0])}C{' '.join(map(_pair, points[1:]))}"
    parts = [tag("path", d=path), _head(points[-1], end, "head")]
    if direction == "both" and start:
        parts.append(_head(points[0], start, "back"))
    if edge["id"] in plan.labels:
        parts.append(_edge_label(plan.labels[edge["id"]], f"x{edge['times']}"))
    return group("".join(parts), data_id=edge["id"], class_=f"edge {edge.get('state', '')}".strip())


def _pair(point):
    return f"{number(point[0])},{number(point[1])}"


def _head(base, tip, class_):
    """A triangle from the end of the spline to the tip the layout left room for."""
    if tip is None:
        return ""
    dx, dy = (tip[0] - base[0]) * 0.5, (tip[1] - base[1]) * 0.5
    corners = [tip, (base[0] - dy, base[1] + dx), (base[0] + dy, base[1] - dx)]
    return tag("path", d=f"M{'L'.join(map(_pair, corners))}Z", class_=class_)


def _edge_label(point, content):
    width = mono_width(content, 10) + 6
    back = rect(point[0] - width / 2, point[1] - 8, width, 14, "label", 3)
    return back + text(point[0], point[1] + 3, content, "small muted mid")


# Cards


def _card(card, x, y):
    left, top = x - card.width / 2, y - card.height / 2
    pile = rect(4, 4, card.width, card.height, f"{card.role} box", 6) if card.stacked else ""
    box = rect(0, 0, card.width, card.height, "box", 6)
    rows = "".join(_row(row) for row in card.rows)
    return group(
        pile + box + rows,
        data_id=card.id,
        data_card="",
        class_=f"card {card.role}",
        transform=f"translate({number(left)} {number(top)})",
    )


def _row(row):
    return "".join(_cell(cell, row) for cell in row.cells)


def _cell(cell, row):
    back = _cell_box(cell, row)
    if not cell.text and not cell.live:
        return back
    words = text(*_anchor(cell, row), cell.text, f"{cell.css} {_ALIGN[cell.align]}".strip(), data_id=cell.id)
    if cell.live and back:
        return group(back + words, class_="value", data_id=cell.id)
    return group(back + words, class_=_cell_class(cell), data_id=row.id or None) if back else words


def _cell_class(cell):
    return f"{cell.role} gone" if "gone" in cell.css else cell.role


_ALIGN = {"start": "", "middle": "mid", "end": "end"}


def _anchor(cell, row):
    x = {"start": cell.x + 8, "middle": cell.x + cell.width / 2, "end": cell.x + cell.width - 8}[cell.align]
    return x, row.y + row.height / 2 + 4


def _cell_box(cell, row):
    if cell.heat is not None:
        class_ = "hot-value" if cell.heat > 0 else "cold-value"
        return rect(
            cell.x + 1,
            row.y + 2,
            cell.width - 2,
            row.height - 4,
            class_,
            2,
            fill_opacity=f"{abs(cell.heat) * 0.45:.2f}",
        )
    if not cell.role:
        return ""
    inset = 0 if cell.port else 3
    height = row.height if cell.port else min(row.height - 2, 15)
    top = row.y + (row.height - height) / 2
    return rect(cell.x + inset, top, cell.width - 2 * inset, height, "box", 6 if cell.port else 4)


# Below the graph


def _queue(trace, y):
    if trace.options["direction"] == "forward" or not trace.steps or "player" in trace.options:
        return "", y
    words = text(MARGIN, y + 12, "ready queue:", "note") + text(MARGIN + 92, y + 12, "", "queue", data_id="queue")
    return group(words, class_="live"), y + 20


def _swatch(role):
    return group(rect(0, 0, 26, 14, "box", 4), class_=role)


_LEGEND = {
    "op": (
        "operation",
        "the backward node of one forward operation; #n is its order of creation: of the nodes that "
        "are ready, the highest runs first",
    ),
    "leaf": ("leaf", "no operation made it, so backward() keeps its gradient in .grad"),
    "nonleaf": ("non-leaf", "a named result of an operation: its gradient passes through and is not kept"),
    "retained": ("retains grad", "a non-leaf whose gradient is kept too, because of retain_grad()"),
    "saved": ("saved", "a tensor the forward kept, because this node needs it to compute gradients"),
    "freed": ("freed", "a saved tensor that an earlier backward() let go of"),
    "fold": ("folded", "many nodes on one card"),
    "ended": ("problem", "here backward() raises an error"),
}


def _legend_items(trace):
    used = _roles_used(trace)
    items = [(_swatch("pale gone" if role == "freed" else role), *_LEGEND[role]) for role in _LEGEND if role in used]
    if trace.options.get("player") == "run":
        items += _run_legend()
    if "op" in used:
        items += _slot_legend(trace.options["direction"])
    return items


def _run_legend():
    badge = group(rect(0, 0, 26, 14, "box", 4), class_="wait") + text(13, 11, "2", "small mid")
    return [
        (badge, "waits for", "the node's dependencies: gradients still to come; it is ready when none is left"),
        (
            text(0, 11, "a + b", "small"),
            "buffer",
            "gradients for one slot add up here until the node runs; the first values are shown",
        ),
    ]


def _roles_used(trace):
    used = set()
    for node in trace.nodes:
        used.add({"root": "nonleaf"}.get(node["kind"], node["kind"]))
        if node.get("word") == "retains grad":
            used.add("retained")
        for port in node.get("ins", ()):
            used.update(["retained" if port["word"] == "retains grad" else "nonleaf"] if port["names"] else [])
        states = {"kept": "saved", "freed": "freed", "changed": "ended", "packed": "saved"}
        used.update(states[item["state"]] for item in node.get("saved", ()))
    return used


def _arrow_legend(direction):
    filled = group(_head((6, 7), (20, 7), "head"), class_="edge")
    hollow = group(_head((6, 7), (20, 7), "back"), class_="edge")
    if direction == "forward":
        return [(filled, "arrow", "a value goes from one operation to the next")]
    gradient = (filled, "arrow", "a gradient goes the way of the arrow")
    return (
        [gradient]
        if direction == "backward"
        else [gradient, (hollow, "hollow arrow", "in the forward pass the value came the other way")]
    )


def _slot_legend(direction):
    port = group(rect(2, 0, 22, 14, "box", 4), class_="pale") + text(13, 11, "0", "small mid")
    top, bottom = ("bottom", "top") if direction == "forward" else ("top", "bottom")
    return [
        *_arrow_legend(direction),
        (port, f"{top} numbers", "backward input k receives the gradient of forward output k"),
        (
            port,
            f"{bottom} numbers",
            "entry k of next_functions is the gradient of forward input k; – means that input needs none",
        ),
    ]
