"""A profile as SVG: lanes of time, a flame graph from the callers down, and a table with bars."""

from viz.loader_svg import ticks
from viz.streams_svg import fitting
from viz.svg_parts import MARGIN, document, group, header, legend, rect, tag, text
from viz.wrap import cut

_LEFT, _SPAN = 96, 760
_ROW, _BAR = 19, 17
_EVALUATE = "autograd::engine::evaluate_function: "
_ROLES = {"op": "nonleaf", "block": "retained", "backward": "saved", "runtime": "fold", "kernel": "leaf"}
_WORDS = {
    "op": "an operator",
    "block": "a record_function block; optimizers and DataLoaders make some, too",
    "backward": "a node of the graph, run by backward",
    "runtime": "the host launches a kernel, or waits for the device",
    "kernel": "the device works",
}
_CSS = """
.box{stroke-width:.8}.word{font-weight:600;fill:var(--ink)}.rail{stroke:var(--band-line)}
.tick{stroke:var(--band-line);stroke-dasharray:2 3}.head{font-weight:700}.total>.box{opacity:.45}
.line{stroke:var(--band-line)}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    width = _LEFT + _SPAN + 2 * MARGIN
    head, y = header(trace, width)
    timeline, y = _timeline(trace, y + 14)
    flames, y = _flames(trace, y + 22)
    table, y = _table(trace, y + 26)
    key, y = legend(_legend(trace), y + 16, width)
    return document(trace, head + timeline + flames + table + key, width, y + MARGIN - 6, _CSS)


def _legend(trace):
    used = {node["kind"] for node in trace.nodes}
    return [
        (rect(0, 1, 26, 13, f"{_ROLES[kind]} box", 2), kind, words)
        for kind, words in _WORDS.items()
        if kind in used
    ]


def _bar(node, x, y, width):
    parts = rect(x, y, max(width, 0.8), _BAR, "box", 2)
    label = fitting(node["label"].removeprefix(_EVALUATE).removeprefix("aten::"), width - 6)
    if label:
        parts += text(x + 3, y + _BAR - 5, label, "small")
    return group(parts, data_id=node["id"], data_card="", class_=_ROLES[node["kind"]])


# When


def _timeline(trace, y):
    scale = _SPAN / max(trace.options["end"], 1e-6)
    parts, top, places = [text(MARGIN, y, "When", "note word")], y + 18, {}
    bottom = top + 6
    for lane in trace.groups:
        places[lane["id"]] = bottom
        parts.append(_lane(lane, bottom))
        bottom += lane["depth"] * _ROW + 8
    parts.insert(1, _axis(trace.options["end"], scale, top, bottom - 4))
    for node in trace.nodes:
        if node["part"] == "slice":
            x = MARGIN + _LEFT + node["from"] * scale
            row = places[node["lane"]] + (node["depth"] * _ROW if node["kind"] != "kernel" else 0)
            parts.append(_bar(node, x, row, (node["to"] - node["from"]) * scale))
    return "".join(parts), bottom


def _axis(end, scale, top, bottom):
    parts = []
    for moment in ticks(end):
        x = MARGIN + _LEFT + moment * scale
        parts.append(tag("line", x1=x, x2=x, y1=top, y2=bottom, class_="tick"))
        parts.append(text(x, top - 4, f"{moment:g} ms", "small muted mid"))
    return "".join(parts)


def _lane(lane, y):
    x = MARGIN + _LEFT
    rail = tag("line", x1=x, x2=x + _SPAN, y1=y + lane["depth"] * _ROW, y2=y + lane["depth"] * _ROW, class_="rail")
    return group(rail + text(MARGIN, y + 12, lane["label"], "note"), data_id=lane["id"])


# Under which caller


def _flames(trace, y):
    frames = [node for node in trace.nodes if node["part"] == "frame"]
    if not frames:
        return "", y - 22
    scale = (_LEFT + _SPAN) / max(trace.options["host"], 1e-6)
    words = "equal paths of calls added up: as wide as their time; what has nothing under it is self time"
    parts = [text(MARGIN, y, "Under which caller", "note word"), text(MARGIN + 142, y, words, "note")]
    for node in frames:
        x = MARGIN + node["from"] * scale
        parts.append(_bar(node, x, y + 10 + node["depth"] * _ROW, (node["to"] - node["from"]) * scale))
    return "".join(parts), y + 10 + (max([node["depth"] for node in frames]) + 1) * _ROW


# In which operator

_COLUMNS = (("calls", 362), ("self ms", 432), ("self %", 492), ("total ms", 562), ("mean ms", 632))


def _table(trace, y):
    rows = trace.options["rows"]
    most = max([row["total"] for row in rows] + [1e-9])
    parts = [text(MARGIN, y, "In which operator", "note word")]
    parts += [text(MARGIN + x, y, title, "small head end") for title, x in _COLUMNS]
    parts.append(text(MARGIN + 648, y, "self, and what ran within", "small head"))
    for k, row in enumerate(rows):
        parts.append(_row(row, y + 10 + k * _ROW, 200 / most))
    y += 10 + len(rows) * _ROW
    if trace.options["hidden_rows"]:
        parts.append(text(MARGIN, y + 12, f"and {trace.options['hidden_rows']} more names", "note"))
        y += 14
    return "".join(parts), y


def _row(row, y, scale):
    share = "" if row["share"] is None else f"{row['share']:.1%}"
    values = (row["count"], f"{row['self']:.3f}", share, f"{row['total']:.3f}", f"{row['total'] / row['count']:.4f}")
    parts = [text(MARGIN, y + 12, shortened(row["name"], 45))]
    parts += [text(MARGIN + x, y + 12, value, "end") for value, (_, x) in zip(values, _COLUMNS, strict=True)]
    x, role = MARGIN + 648, _ROLES[row["kind"]]
    parts.append(group(rect(x, y + 2, max(row["total"] * scale, 0.5), 11, "box", 2), class_=f"{role} total"))
    parts.append(group(rect(x, y + 2, max(row["self"] * scale, 0.5), 11, "box", 2), class_=role))
    return "".join(parts)


def shortened(name, letters):
    """A name without the part that all nodes of backward share, and with an end that is cut."""
    name = name.removeprefix("autograd::engine::")
    return cut(name, letters)
