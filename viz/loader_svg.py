"""A DataLoader's run as SVG: lanes for the loop, for finished batches, and for each worker."""

from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_LANE = 34
_BAR = 22
_TRACK = 16
_LEFT = 120
_SPAN = 680
_ROLES = {"fetch": "nonleaf", "use": "leaf", "wait": "ended", "start": "fold", "ready": "saved"}
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.later{opacity:.15}.shown{opacity:1}
.rail{stroke:var(--band-line);fill:none}.hand{stroke:var(--ended-line);fill:none;stroke-width:1.4}
.tick{stroke:var(--band-line);stroke-dasharray:2 3}.now>.box{stroke-width:3}.now.hand{stroke-width:3}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    width = _LEFT + _SPAN + 2 * MARGIN
    head, y = header(trace, width)
    page = _Page(trace, y + 16)
    body = page.axis() + page.rails() + "".join(map(page.hand, trace.edges)) + "".join(map(page.bar, trace.nodes))
    key, below = legend(_legend(trace), page.bottom + 14, width)
    return document(trace, head + body + key, width, below + MARGIN - 6, _CSS)


class _Page:
    """Where each lane and each moment lies."""

    def __init__(self, trace, top):
        self.trace, self.top = trace, top
        self.scale = _SPAN / max(trace.options["end"], 0.1)
        self.y, y = {}, top + 6
        last_ready = next((lane for lane in reversed(trace.groups) if lane["kind"] == "ready"), None)
        lanes = [lane for lane in trace.groups if lane["kind"] == "loop"]
        lanes += [lane for lane in trace.groups if lane["kind"] == "ready"]
        lanes += [lane for lane in trace.groups if lane["kind"] == "worker"]
        for lane in lanes:
            self.y[lane["id"]] = y
            y += _TRACK if lane["kind"] == "ready" else _LANE
            y += 8 if lane["kind"] == "loop" or lane is last_ready else 0
        self.bottom = y + 4
        self.ends = {node["id"]: node for node in trace.nodes}

    def x(self, moment):
        return MARGIN + _LEFT + moment * self.scale

    def axis(self):
        parts = []
        for moment in ticks(self.trace.options["end"]):
            x = self.x(moment)
            parts.append(tag("line", x1=x, x2=x, y1=self.top, y2=self.bottom - 4, class_="tick"))
            parts.append(text(x, self.top - 4, f"{moment:g} ms", "small muted mid"))
        return "".join(parts)

    def rails(self):
        parts, said = [], False
        for lane in self.trace.groups:
            y, kind = self.y[lane["id"]], lane["kind"]
            label = lane["label"] if kind != "ready" or said else "ready, kept"
            said = said or kind == "ready"
            middle = y + (_TRACK - 4) / 2 if kind == "ready" else y + _BAR / 2
            rail = tag("line", x1=self.x(0), x2=self.x(0) + _SPAN, y1=middle, y2=middle, class_="rail")
            parts.append(group(rail + text(MARGIN, middle + 4, label, "note word"), data_id=lane["id"]))
        return "".join(parts)

    def bar(self, node):
        x, y = self.x(node["from"]), self.y[node["lane"]]
        width = max(1.5, (node["to"] - node["from"]) * self.scale)
        height = _TRACK - 4 if node["kind"] == "ready" else _BAR
        parts = rect(x, y, width, height, "box", 3)
        if mono_width(node["label"], 11) + 4 <= width:
            parts += text(x + width / 2, y + height / 2 + 4, node["label"], "mid")
        return group(parts, data_id=node["id"], data_card="", class_=_ROLES[node["kind"]])

    def hand(self, edge):
        """From the end of fetching to the moment at which the loop went on."""
        fetched = self.ends[edge["from"]]
        x, y = self.x(fetched["to"]), self.y[fetched["lane"]]
        to_x, to_y = self.x(edge["at"]), self.y["loop"] + _BAR
        bend = f"M{number(x)},{number(y)}L{number(to_x)},{number(to_y)}"
        return tag("path", d=bend, class_="hand", data_id=edge["id"])


def ticks(end):
    """At most eight round moments from 0 to the end."""
    step = 0.1
    while end / step > 8:
        step *= 2.5 if f"{step:e}"[0] == "2" else 2
    return [round(k * step, 3) for k in range(int(end / step) + 1)]


_WORDS = {
    "start": "making the iterator: worker processes start, and get their first tasks",
    "wait": "the loop has asked for this batch and stands still",
    "use": "the loop works on this batch",
    "fetch": "samples are read and collated",
    "ready": "a finished batch, kept until the loop asks for it",
}


def _legend(trace):
    used = {node["kind"] for node in trace.nodes}
    items = [(rect(0, 1, 26, 13, f"{_ROLES[kind]} box", 3), kind, _WORDS[kind]) for kind in _WORDS if kind in used]
    if trace.edges:
        line = tag("path", d="M0,12L26,2", class_="hand")
        items.append((line, "waited for", "this worker's batch is what the loop stood still for"))
    return items
