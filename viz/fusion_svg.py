"""Fused kernels as SVG: each with the tensors it reads on the left, those it writes on the right, and bars of bytes."""

from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.tensors import human_bytes
from viz.theme import mono_width

_WIDTH, _SIDE, _BOX = 900, 196, 408
_LINE, _CHIP = 20, 20
_MOST_TENSORS = 6
_CSS = """
.box{stroke-width:1.2}.wire{fill:none;stroke:var(--op-line);stroke-width:1.2}.head{font-weight:600}
.before{fill:var(--ended);stroke:var(--ended-line)}.after{fill:var(--added);stroke:var(--added-line)}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    head, y = header(trace, _WIDTH)
    parts = [head]
    for found in trace.groups:
        y += 18
        parts.append(group(text(MARGIN, y, found["label"], "head"), data_id=found["id"]))
        y += 12
        for node in trace.nodes:
            if node["graph"] == found["name"]:
                drawn, height = _unit(node, trace.options["largest"])
                parts.append(group(drawn, transform=f"translate(0 {number(y)})", data_id=node["id"], data_card=""))
                y += height + 14
    key, y = legend(_legend(trace), y + 6, _WIDTH)
    return document(trace, "".join(parts) + key, _WIDTH, y + MARGIN - 6, _CSS)


def _legend(trace):
    kinds = {node["kind"] for node in trace.nodes}
    samples = [
        ("kernel", rect(0, 1, 26, 13, "leaf box", 3), "kernel", "one pass over memory for all operators in it"),
        ("call", rect(0, 1, 26, 13, "fold box", 3), "call", "stays with a kernel of its own, such as a product"),
        ("kernel", rect(0, 1, 26, 13, "before", 2), "before", "bytes, if each operator reads and writes by itself"),
        ("kernel", rect(0, 1, 26, 13, "after", 2), "after", "bytes that the fused kernel reads and writes"),
    ]
    return [(sample, word, words) for kind, sample, word, words in samples if kind in kinds]


def _unit(node, largest):
    """(svg, height) of a kernel or call between its tensors."""
    left = MARGIN + _SIDE + 30
    chips, chips_height = _chips(node, left + 10, 24 if node["kind"] == "kernel" else 6)
    bars, bars_height = _bars(node, left + 10, chips_height, largest)
    height = max(chips_height + bars_height + 4, _LINE * max(_count(node["reads"]), _count(node["writes"])) + 8)
    role = "leaf" if node["kind"] == "kernel" else "fold"
    parts = [rect(left, 0, _BOX, height, f"{role} box", 6)]
    if node["kind"] == "kernel":
        parts.append(text(left + 10, 17, node["label"], "name"))
    parts += [chips, bars, _side(node["reads"], MARGIN, height, left, True)]
    parts.append(_side(node["writes"], left + _BOX + 30, height, left + _BOX, False))
    return "".join(parts), height


def _chips(node, x, y):
    """The operators in reading order; returns (svg, y below them)."""
    parts, at, role = [], x, "op" if node["kind"] == "kernel" else "pale"
    for name in node["operators"]:
        width = mono_width(name, 11) + 12
        if at + width > x + _BOX - 20 and at > x:
            at, y = x, y + _CHIP + 4
        parts.append(rect(at, y, width, _CHIP, f"{role} box", 4) + text(at + 6, y + 14, name))
        at += width + 5
    return "".join(parts), y + _CHIP + 6


def _bars(node, x, y, largest):
    if node["kind"] != "kernel":
        return "", 0
    parts, room = [], _BOX - 150
    for k, way in enumerate(("before", "after")):
        width = max(2, node[way] / largest * room)
        parts.append(text(x, y + 11 + 17 * k, way, "small muted"))
        parts.append(rect(x + 46, y + 2 + 17 * k, width, 11, way, 2))
        parts.append(text(x + 52 + width, y + 11 + 17 * k, human_bytes(node[way]), "small"))
    return "".join(parts), 38


def _count(tensors):
    return min(len(tensors), _MOST_TENSORS) + (len(tensors) > _MOST_TENSORS)


def _side(tensors, x, height, edge, is_left):
    """The tensors of one side, each with a wire to the box."""
    shown = [_words(t) for t in tensors[:_MOST_TENSORS]]
    if len(tensors) > _MOST_TENSORS:
        shown.append(f"{len(tensors) - _MOST_TENSORS} more")
    parts, top = [], (height - _LINE * len(shown)) / 2
    for k, words in enumerate(shown):
        middle = top + _LINE * k + _LINE / 2
        near = x + _SIDE + 4 if is_left else x - 4
        parts.append(tag("line", x1=near, y1=middle, x2=edge, y2=middle, class_="wire"))
        parts.append(text(x + _SIDE if is_left else x, middle + 4, words, "end" if is_left else ""))
    return "".join(parts)


def _words(t):
    name = t["label"] if len(t["label"]) <= 16 else t["label"][:15] + "…"
    return f"{name} {human_bytes(t['bytes'])}"
