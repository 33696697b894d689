"""Segments and blocks as SVG: one bar per segment, to scale within its pool, and the sums over time."""

from viz.memory_words import bytes_text
from viz.svg_parts import MARGIN, document, group, header, legend, rect, tag, text
from viz.theme import mono_width

_LEFT = 150
_SPAN = 650
_BAR = 26
_LINE = 38
_CHART = 70
_ROLES = {"live": "leaf", "wait": "saved", "gap": "pale", "fold": "fold", "new": "op"}
_CSS = """
.box{stroke-width:1}.word{font-weight:600;fill:var(--ink)}.off{display:none}.off.on{display:inline}
.now>.box{stroke-width:3;stroke:var(--accent-line)}.hot>.box{stroke-width:2.4}
.waste{fill:var(--leaf-line);opacity:.35}.frame{fill:none;stroke:var(--fold-line);stroke-width:1.4}
.cursor{fill:none;stroke:none}.cursor.now{fill:var(--accent);stroke:var(--accent-line)}
.reserved{fill:var(--pale);stroke:var(--fold-line)}.allocated{fill:var(--leaf);stroke:var(--leaf-line)}
.choice{display:none}.guess .choice{display:inline}.gap>.box{stroke-dasharray:3 2}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    width = _LEFT + _SPAN + 2 * MARGIN
    head, y = header(trace, width)
    page = _Page(trace)
    numbers, y = _numbers(trace, y + 10)
    bars, y = page.pools(y + 18)
    choice, y = _choice(trace, y)
    chart, y = _chart(trace, y + 12)
    key, below = legend(_legend(trace), y + 16, width)
    return document(trace, head + numbers + bars + choice + chart + key, width, below + MARGIN - 6, _CSS)


def _numbers(trace, y):
    """The four sums, each a text that the steps change."""
    parts, x = [], MARGIN
    for name, value in trace.options["totals"].items():
        parts.append(text(x, y, f"{name} {bytes_text(value)}", "word", data_id=f"n-{name}"))
        x += 190
    return "".join(parts), y


class _Page:
    """Where each segment lies, and how many pixels a byte has in its pool."""

    def __init__(self, trace):
        self.trace = trace
        self.rows = {row["id"]: row for row in trace.groups}
        self.y = {}

    def pools(self, y):
        parts = []
        for pool in ("small", "large"):
            rows = [row for row in self.trace.groups if row["pool"] == pool]
            if rows:
                drawn, y = self._pool(pool, rows, y)
                parts.append(drawn)
        return "".join(parts), y

    def _pool(self, pool, rows, y):
        self.scale = _SPAN / max(row["size"] for row in rows)
        title = f"{pool} pool: 1 pixel is {bytes_text(int(1 / self.scale))}"
        parts = [text(MARGIN, y + 10, title, "note word")]
        y += 20
        for row in rows:
            parts.append(self._row(row, y))
            y += _LINE
        return "".join(parts), y + 8

    def _row(self, row, y):
        width = row["size"] * self.scale
        label = text(MARGIN, y + 12, bytes_text(row["size"]) + (", expandable" if row["expandable"] else ""), "small")
        label += text(MARGIN, y + 25, f"stream {row['stream']}", "small muted")
        frame = rect(MARGIN + _LEFT - 1.5, y - 1.5, width + 3, _BAR + 3, "frame box", 4)
        shown = "segment" if row["open"] else "segment off"
        mine = [node for node in self.trace.nodes if node["row"] == row["id"]]
        outline = group(label + frame, data_id=row["id"], class_=shown)
        return outline + "".join(self._node(node, y) for node in mine)

    def _node(self, node, y):
        x, width = MARGIN + _LEFT + node["at"] * self.scale, max(0.8, node["size"] * self.scale)
        parts = rect(x, y, width, _BAR, "box", 2)
        if node["kind"] in ("live", "wait"):
            waste = (node["size"] - node["requested"]) * self.scale
            if waste >= 1:
                parts += rect(x + width - waste, y + 1, waste, _BAR - 2, "waste")
        if mono_width(node["label"], 10) + 6 <= width:
            parts += text(x + width / 2, y + _BAR / 2 + 4, node["label"], "mid small")
        look = _ROLES[node["kind"]] + (" gap" if node["kind"] == "gap" else "") + ("" if node["final"] else " off")
        return group(parts, data_id=node["id"], data_card="", class_=look)


def _choice(trace, y):
    """The answer "a new segment" of predict mode; it takes no room elsewhere."""
    node = next((node for node in trace.nodes if node["kind"] == "new"), None)
    if node is None:
        return "", y
    parts = rect(MARGIN + _LEFT, y, 190, _BAR, "box", 4)
    parts += text(MARGIN + _LEFT + 95, y + 17, "needs " + node["label"], "mid")
    return group(parts, data_id=node["id"], data_card="", class_="op choice"), y + _BAR + 6


def _chart(trace, y):
    """Reserved and allocated after each step, as areas; the cursor marks the step that is shown."""
    line = trace.options["line"]
    if not line:
        return "", y
    top = max(max(point["reserved"] for point in line), 1)
    unit = _SPAN / len(line)
    parts = [
        text(MARGIN, y + 10, "over the steps", "note word"),
        text(MARGIN, y + 26, f"top: {bytes_text(top)}", "small muted"),
    ]
    for name in ("reserved", "allocated"):
        parts.append(tag("path", d=_stairs(line, name, unit, top, y), class_=name))
    for number in range(1, len(line)):
        x = MARGIN + _LEFT + number * unit
        parts.append(rect(x, y + _CHART + 3, max(unit, 2), 7, "cursor", data_id=f"t{number}"))
    return "".join(parts), y + _CHART + 12


def _stairs(line, name, unit, top, y):
    base = y + _CHART
    points = [(MARGIN + _LEFT, base)]
    for number, values in enumerate(line):
        height = base - values[name] / top * _CHART
        x = MARGIN + _LEFT + number * unit
        points += [(x, height), (x + unit, height)]
    points.append((points[-1][0], base))
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) + "Z"


_WORDS = {
    "live": ("in use", "a block of a tensor; the end in a stronger colour is rounding: allocated, but not asked for"),
    "gap": ("free", "a free block: cached, and for requests of this pool and stream only"),
    "wait": ("waiting", "freed, but another stream may still use it (record_stream): active_awaiting_free"),
    "fold": ("too narrow", "this many neighbours, too narrow to be told apart"),
}


def _legend(trace):
    used = {node["kind"] for node in trace.nodes}
    blocks = [
        (rect(0, 1, 26, 13, f"{_ROLES[kind]} box", 2), word, explanation)
        for kind, (word, explanation) in _WORDS.items()
        if kind in used
    ]
    return blocks + _chart_legend() * bool(trace.options["line"])


def _chart_legend():
    """What the two areas over the steps are."""
    lines = [("reserved", "segments that the allocator holds"), ("allocated", "what it has handed out of them")]
    return [
        (tag("path", d="M0,14V4H26V14Z", class_=name), name, f"over the steps, the {where} line: {words}")
        for (name, words), where in zip(lines, ("upper", "lower"), strict=True)
    ]
