"""Buckets as SVG: the parameters of each, and below them what happened when."""

from viz.loader_svg import ticks
from viz.svg_parts import MARGIN, document, group, header, legend, rect, tag, text
from viz.theme import mono_width

_WIDTH, _LEFT, _ROW, _BAR = 820, 110, 30, 20
ROLES = {"parameter": "leaf", "backward": "nonleaf", "ready": "leaf", "travels": "accent", "waits": "ended"}
_WORDS = {
    "parameter": "a gradient's stretch of its bucket; the first bucket travels first",
    "backward": "backward computes",
    "ready": "a gradient is complete and copied into its bucket",
    "travels": "the all-reduce of a bucket, from its beginning to its arrival",
    "waits": "backward is over; this is what overlapping could not hide",
}
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.later{opacity:.15}.shown{opacity:1}
.rail{stroke:var(--band-line)}.tick{stroke:var(--band-line);stroke-dasharray:2 3}.now>.box{stroke-width:3}
.mark{stroke:var(--leaf-line);stroke-width:2}.now>.mark{stroke-width:5}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    head, y = header(trace, _WIDTH)
    rows, y = _buckets(trace, y + 4)
    lanes = [one for one in trace.groups if one["kind"] == "lane"]
    times, y = _times(trace, lanes, y + 30) if lanes else ("", y)
    used = {node["kind"] for node in trace.nodes}
    items = [
        (rect(0, 1, 26, 13, f"{ROLES[kind]} box", 3), kind, words) for kind, words in _WORDS.items() if kind in used
    ]
    key, y = legend(items, y + 14, _WIDTH)
    return document(trace, head + rows + times + key, _WIDTH, y + MARGIN - 6, _CSS)


def _buckets(trace, y):
    """One bucket after the other, its parameters in lines as wide as the picture."""
    parts = []
    for bucket in (one for one in trace.groups if one["kind"] == "bucket"):
        number = int(bucket["id"][1:])
        words = text(MARGIN, y + 14, bucket["label"], "note word") + text(MARGIN, y + 27, bucket["size"], "small muted")
        x, boxes, first = MARGIN + _LEFT, [], y
        for node in trace.nodes:
            if node["kind"] != "parameter" or node["bucket"] != number:
                continue
            label = f"{node['label']} {node['size']}"
            width = mono_width(label, 10) + 14
            if x + width > _WIDTH - MARGIN and x > MARGIN + _LEFT:
                x, y = MARGIN + _LEFT, y + 26
            box = rect(x, y, width, 22, "box", 3) + text(x + 7, y + 15, label, "small")
            boxes.append(group(box, data_id=node["id"], data_card="", class_="leaf"))
            x += width + 4
        parts.append(group(words, data_id=bucket["id"]) + "".join(boxes))
        y = max(y + 26, first + 34) + 6
    return "".join(parts), y


def _times(trace, lanes, top):
    end = max(trace.options["end"], 0.01)
    span = _WIDTH - 2 * MARGIN - _LEFT
    places = {lane["id"]: top + 8 + n * _ROW for n, lane in enumerate(lanes)}
    bottom = top + 8 + len(lanes) * _ROW

    def at(ms):
        return MARGIN + _LEFT + ms / end * span

    parts = []
    for moment in ticks(end):
        parts.append(tag("line", x1=at(moment), x2=at(moment), y1=top, y2=bottom, class_="tick"))
        parts.append(text(at(moment), top - 5, f"{moment:g} ms", "small muted mid"))
    for lane in lanes:
        y = places[lane["id"]] + _BAR / 2
        rail = tag("line", x1=at(0), x2=at(end), y1=y, y2=y, class_="rail")
        parts.append(group(rail + text(MARGIN, y + 4, lane["label"], "note word"), data_id=lane["id"]))
    parts += [_bar(node, at, places) for node in trace.nodes if "lane" in node]
    return "".join(parts), bottom


def _bar(node, at, places):
    x, y = at(node["from"]), places[node["lane"]]
    if node["kind"] == "ready":
        mark = tag("line", x1=x, x2=x, y1=y - 3, y2=y + _BAR + 3, class_="mark")
        return group(mark, data_id=node["id"], data_card="")
    width = max(1.5, at(node["to"]) - x)
    parts = rect(x, y, width, _BAR, "box", 3)
    if width > mono_width(node["label"], 11) + 4:
        parts += text(x + width / 2, y + 14, node["label"], "mid")
    return group(parts, data_id=node["id"], data_card="", class_=ROLES[node["kind"]])
