"""A broadcasting trace as SVG: the shapes below each other, aligned at the last dim, and the result."""

from html import escape

from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_MIN_WIDTH = 640
_MIN_CELL, _GAP, _ROW = 84, 8, 46
ROLES = {"kept": "leaf", "stretched": "saved", "missing": "retained", "fault": "ended", "waiting": "pale"}
_CSS = """
.box{stroke-width:1.1}.word,.fact{font-weight:600;fill:var(--ink)}.size{font-size:13px;font-weight:700}
.missing>.box{stroke-dasharray:4 3}.rule{stroke:var(--op-line);stroke-width:1.4}
.now>.box,.hot>.box{stroke:var(--accent-line);stroke-width:3}.now>.box{fill:var(--accent)}
.now>.back{fill:var(--accent-line)}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    names = [*trace.options["names"], "result"]
    left = MARGIN + max(70, mono_width(max(names, key=len), 11) + 16)
    cell = _cell(trace)
    table = left + trace.options["dims"] * (cell + _GAP)
    strides = max((mono_width(words, 11) for words in trace.options["strides"]), default=0)
    backward = max((mono_width(words, 11) for words in trace.options["backward"]), default=0)
    width = max(_MIN_WIDTH, table + strides + 40, backward + 60)
    head, y = header(trace, width)
    content, height = _table(trace, left, table, cell)
    parts = [head, group(content, transform=f"translate(0 {number(y)})")]
    content, more = _backward(trace)
    parts.append(group(content, transform=f"translate(0 {number(y + height)})"))
    key, y = legend(_legend(trace), y + height + more, width)
    return document(trace, "".join(parts) + key, width, y + MARGIN - 6, _CSS)


def _cell(trace):
    """The width of a size's box: that of its words at most."""
    words = [_words(node) if node["kind"] == "size" else node["text"] for node in trace.nodes if "text" in node]
    return max([_MIN_CELL, *(mono_width(each, 13) + 12 for each in words)])


def _words(node):
    """What stands in a size's box: ``1 → 4``, ``(1) → 4`` for a dim that is not there."""
    words = node["text"] or "(1)"
    return f"{words} → {node['into']}" if node["into"] else words if node["text"] else ""


def _table(trace, left, right, cell):
    """One row for each operand; returns (svg, height)."""
    dims, names = trace.options["dims"], trace.options["names"]

    def x(column):
        return left + (dims - column) * (cell + _GAP)

    parts = [text(x(c) + cell / 2, 10, f"dim {-c}", "small muted mid") for c in range(1, dims + 1)]
    parts += [text(MARGIN, 18 + k * _ROW + 24, name, "fact") for k, name in enumerate(names)]
    strides = trace.options["strides"]
    parts += [text(right + 14, 18 + k * _ROW + 24, words, "muted") for k, words in enumerate(strides)]
    parts += [text(right + 14, 10, "strides then", "small muted")] if strides else []
    parts += [_size(n, x(n["column"]), 18 + n["row"] * _ROW, cell) for n in trace.nodes if n["kind"] == "size"]
    below = 18 + len(names) * _ROW
    parts.append(tag("line", x1=MARGIN, x2=max(right, left + 40), y1=below + 1, y2=below + 1, class_="rule"))
    parts.append(text(MARGIN, below + 34, "result", "fact"))
    if not dims and trace.options["works"]:
        parts.append(text(left, below + 34, "0-d", ""))
    parts += [_result(n, x(n["column"]), below + 10, cell) for n in trace.nodes if n["kind"] == "result"]
    return "".join(parts), below + _ROW + 20


def _size(node, x, y, cell):
    """The size, what it becomes, and its stride."""
    content = rect(x, y, cell, _ROW - 8, "box", 5) + text(x + cell / 2, y + 16, _words(node), "size mid")
    content += text(x + cell / 2, y + 31, node["stride"], "small muted mid")
    tip, css = tag("title", escape(node["tip"])), f"{ROLES[node['role']]} {node['role']}"
    return group(tip + content, data_id=node["id"], data_card="", class_=css)


def _result(node, x, y, cell):
    role = "ended" if node["text"] == "no" else "pale" if node["text"] == "?" else "nonleaf"
    content = rect(x, y, cell, _ROW - 8, "box", 5)
    content += text(x + cell / 2, y + 24, node["text"], "size mid", data_id=f"v{node['id']}")
    return group(tag("title", node["tip"]) + content, data_id=node["id"], data_card="", class_=role)


def _backward(trace):
    lines = trace.options["backward"]
    if not lines:
        return "", 0
    parts = [text(MARGIN, 12, "backward: from the result's gradient to each operand's", "note fact")]
    parts += [
        group(text(MARGIN + 14, 32 + k * 18, words, "back"), data_id=f"b{k}") for k, words in enumerate(lines)
    ]
    return "".join(parts), 32 + len(lines) * 18


def _legend(trace):
    meanings = {
        "kept": "the size of the result",
        "stretched": "a size of 1: shown again and again, stride 0",
        "missing": "the operand has fewer dims: counts as 1",
        "fault": "two sizes that differ, and neither is 1",
        "waiting": "the rule did not come this far",
    }
    present = {node["role"] for node in trace.nodes if node["kind"] == "size"}
    return [
        (group(rect(0, 0, 26, 14, "box", 3), class_=f"{ROLES[role]} {role}"), role, words)
        for role, words in meanings.items()
        if role in present
    ]
