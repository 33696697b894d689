"""Streams as SVG: a lane for the host, one for each stream, arrows for launches and waits, red lines for races."""

from viz.loader_svg import ticks
from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width
from viz.wrap import columns, cut

_LANE = 46
_BAR = 22
_LEFT = 112
_SPAN = 720
_MOST_WORDS = 8  # races that are named beside their lines; the words of more would cover each other
_ROLES = {"launch": "fold", "kernel": "nonleaf", "copy": "saved", "wait": "ended"}
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.later{opacity:.13}.shown{opacity:1}
.rail{stroke:var(--band-line);fill:none}.tick{stroke:var(--band-line);stroke-dasharray:2 3}
.launch-line{stroke:var(--fold-line);stroke-width:.8;fill:none;opacity:.75}
.order-line{stroke:var(--leaf-line);stroke-width:2;fill:none}.order-head{fill:var(--leaf-line)}
.return-line{stroke:var(--retained-line);stroke-width:1.2;stroke-dasharray:4 3;fill:none}
.race-line{stroke:var(--ended-line);stroke-width:2.6;fill:none}.race-word{fill:var(--ended-line);font-weight:700;paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.now>.box{stroke-width:3}.racing>.box{stroke:var(--ended-line);stroke-width:2.8}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    width = _LEFT + _SPAN + 2 * MARGIN
    head, y = header(trace, width)
    page = _Page(trace, y + 16)
    body = (
        page.axis()
        + page.rails()
        + "".join(map(page.bar, trace.nodes))
        + "".join(map(page.edge, sorted(trace.edges, key=lambda edge: edge["kind"] == "race")))  # its word on top
    )
    key, below = legend(_legend(trace), page.bottom + 14, width)
    return document(trace, head + body + key, width, below + MARGIN - 6, _CSS)


class _Page:
    """Where each lane and each moment lies."""

    def __init__(self, trace, top):
        self.trace, self.top = trace, top
        self.scale = _SPAN / max(trace.options["end"], 1e-3)
        self.y = {lane["id"]: top + 8 + n * _LANE for n, lane in enumerate(trace.groups)}
        self.bottom = top + 8 + len(trace.groups) * _LANE - 12
        self.bars = {node["id"]: node for node in trace.nodes}
        races = [edge for edge in trace.edges if edge["kind"] == "race"]
        self.racing = {edge[end] for edge in races for end in ("from", "to")}
        self.crowded = len(races) > _MOST_WORDS

    def x(self, moment):
        return MARGIN + _LEFT + moment * self.scale

    def axis(self):
        parts = []
        for moment in ticks(self.trace.options["end"]):
            x = self.x(moment)
            parts.append(tag("line", x1=x, x2=x, y1=self.top, y2=self.bottom, class_="tick"))
            parts.append(text(x, self.top - 4, f"{moment:g} ms", "small muted mid"))
        return "".join(parts)

    def rails(self):
        return "".join(map(self._rail, self.trace.groups))

    def _rail(self, lane):
        middle = self.y[lane["id"]] + _BAR / 2
        rail = tag("line", x1=self.x(0), x2=self.x(0) + _SPAN, y1=middle, y2=middle, class_="rail")
        return group(rail + text(MARGIN, middle + 4, lane["label"], "note word"), data_id=lane["id"])

    def _ends(self, node):
        """x of the beginning and the end; a bar too short to see is drawn wider."""
        return self.x(node["from"]), max(self.x(node["from"]) + 2, self.x(node["to"]))

    def bar(self, node):
        begin, end = self._ends(node)
        parts = rect(begin, self.y[node["lane"]], end - begin, _BAR, "box", 3)
        label = fitting(node["label"], end - begin - 6)
        if label:
            parts += text((begin + end) / 2, self.y[node["lane"]] + _BAR / 2 + 4, label, "mid")
        class_ = _ROLES[node["kind"]] + (" racing" if node["id"] in self.racing else "")
        return group(parts, data_id=node["id"], data_card="", class_=class_)

    def edge(self, edge):
        draw = {"launch": self._launch, "order": self._order, "return": self._return, "race": self._race}
        return group(draw[edge["kind"]](self.bars[edge["from"]], self.bars[edge["to"]], edge), data_id=edge["id"])

    def _launch(self, launch, kernel, edge):
        return _line(
            self._ends(launch)[1], self.y["host"] + _BAR, self.x(kernel["from"]), self.y[kernel["lane"]], "launch-line"
        )

    def _order(self, before, after, edge):
        x, y = self._ends(before)[1], self.y[before["lane"]] + _BAR / 2
        to_x, to_y = self.x(after["from"]), self.y[after["lane"]] + _BAR / 2
        head = f"M{number(to_x)},{number(to_y)}l-7,-4l0,8z"
        bend = f"M{number(x)},{number(y)}L{number(to_x - 7)},{number(to_y)}"
        return tag("path", d=bend, class_="order-line") + tag("path", d=head, class_="order-head")

    def _return(self, kernel, wait, edge):
        return _line(
            self._ends(kernel)[1], self.y[kernel["lane"]], self._ends(wait)[1], self.y["host"] + _BAR, "return-line"
        )

    def _race(self, first, second, edge):
        if first is second:
            x, y = self._ends(first)[1], self.y[first["lane"]]
            return text(x + 4, y - 3, edge["label"], "race-word small")
        x, to_x = (sum(self._ends(node)) / 2 for node in (first, second))
        down = self.y[first["lane"]] < self.y[second["lane"]]
        y = self.y[first["lane"]] + (_BAR if down else 0)
        to_y = self.y[second["lane"]] + (0 if down else _BAR)
        line = tag("path", d=zigzag(x, y, to_x, to_y), class_="race-line")
        if self.crowded:
            return tag("title", edge["label"]) + line
        at = min(max(x, to_x) + 8, self.x(0) + _SPAN - mono_width(edge["label"], 10))
        return line + text(at, (y + to_y) / 2 + 4, edge["label"], "race-word small")


def _line(x, y, to_x, to_y, class_):
    return tag("path", d=f"M{number(x)},{number(y)}L{number(to_x)},{number(to_y)}", class_=class_)


def fitting(label, width):
    """As much of a label as fits; nothing if that is less than three letters."""
    letters = int(width / mono_width("x", 11))
    return cut(label, letters) if columns(label) <= letters or letters >= 4 else ""


def zigzag(x, y, to_x, to_y, teeth=6):
    """A path between two points that nobody takes for an arrow."""
    points = [
        (x + (to_x - x) * k / teeth + (5 if k % 2 else -5) * (0 < k < teeth), y + (to_y - y) * k / teeth)
        for k in range(teeth + 1)
    ]
    return "M" + "L".join(f"{number(a)},{number(b)}" for a, b in points)


_WORDS = {
    "launch": "the host puts a kernel into a stream, and goes on",
    "wait": "the host stands still until the device has come so far",
    "kernel": "the device works",
    "copy": "bytes on their way between host and device",
}
_LINES = {
    "launch": ("launch-line", "launched", "which kernel a launch became"),
    "order": ("order-line", "ordered", "one stream waits for an event of another: happens before"),
    "return": ("return-line", "waited for", "what the host stood still for"),
    "race": ("race-line", "race", "nothing orders these two, and they touch the same memory"),
}


def _legend(trace):
    used = {node["kind"] for node in trace.nodes}
    items = [
        (rect(0, 1, 26, 13, f"{_ROLES[kind]} box", 3), kind, words) for kind, words in _WORDS.items() if kind in used
    ]
    drawn = {edge["kind"] for edge in trace.edges}
    for kind, (class_, word, words) in _LINES.items():
        if kind in drawn:
            items.append((tag("path", d="M0,12L26,3", class_=class_), word, words))
    return items
