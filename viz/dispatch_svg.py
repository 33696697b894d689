"""A dispatch trace as SVG: a row for each kernel that ran (or each operator), a column for each key."""

from html import escape

from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_MIN_WIDTH = 680
_CELL, _ROW, _INDENT, _MOST_INDENT = 104, 26, 14, 10
WORDS = {
    "carried": "in the set",
    "out": "taken out",
    "runs": "kernel",
    "composite": "composite",
    "explicit": "shared",
    "made": "made",
    "fallback": "fallback",
    "skipped": "skip",
    "waits": "below",
    "missing": "missing",
}
_PATH_WORDS = {"runs": "runs", "composite": "falls apart"}
ROLES = {
    "carried": "nonleaf",
    "out": "ended",
    "runs": "leaf",
    "composite": "saved",
    "explicit": "retained",
    "made": "nonleaf",
    "fallback": "fold",
    "skipped": "pale",
    "waits": "band",
    "missing": "ended",
}
_MEANINGS = {
    "carried": "what the arguments and the thread put into the set",
    "out": "what the thread takes out of the set",
    "runs": {"path": "the highest key with a kernel: this one runs", "table": "a kernel of its own"},
    "composite": "only calls other operators (CompositeImplicit)",
    "explicit": "one kernel for every backend (CompositeExplicit)",
    "made": "made from the operator's declaration",
    "fallback": "one function for all operators",
    "skipped": "no kernel: the key is passed over (fallthrough)",
    "waits": "in the set, but lower: reached only if the kernel goes on",
    "missing": "a backend without a kernel: the call fails there",
}
_CSS = """
.box{stroke-width:1}.cell{font-size:10px}.skipped>.box,.missing>.box{stroke-dasharray:4 3}
.opname{font-weight:600;font-size:12px}.rule{stroke:var(--band-line);stroke-width:1}
.now>.back{fill:var(--accent);stroke:var(--accent-line)}.back{fill:transparent;stroke:transparent}
.head{font-size:10px;font-weight:600}
""".replace("\n", "")


def words_of(role, form):
    """The word in a cell."""
    return _PATH_WORDS.get(role, WORDS[role]) if form == "path" else WORDS[role]


def draw(trace):
    """The complete SVG."""
    columns, rows = trace.options["columns"], trace.nodes
    left = MARGIN + max([120, *(_label_width(row) for row in rows)]) + 14
    right = left + len(columns) * _CELL
    width = max(_MIN_WIDTH, right + max([0, *(mono_width(row["where"], 10) for row in rows)]) + 14 + MARGIN)
    head, y = header(trace, width)
    parts = [head, group(_heads(trace, left, right), transform=f"translate(0 {number(y)})")]
    y += 22
    for before, row in zip([None, *rows], rows, strict=False):
        if before and before["kind"] != row["kind"]:
            parts.append(tag("line", x1=MARGIN, x2=right, y1=y + 3, y2=y + 3, class_="rule"))
            y += 8
        parts.append(
            group(
                _row(trace, row, left, right, width),
                data_id=row["id"],
                data_card="",
                transform=f"translate(0 {number(y)})",
            )
        )
        y += _ROW
    key, y = legend(_legend(trace), y + 14, width)
    return document(trace, "".join(parts) + key, width, y + MARGIN - 6, _CSS)


def _label_width(row):
    return _indent(row) + mono_width(row["label"], 12)


def _indent(row):
    return min(row["depth"], _MOST_INDENT) * _INDENT


def _heads(trace, left, right):
    parts = [text(left + (k + 0.5) * _CELL, 12, key, "head mid") for k, key in enumerate(trace.options["columns"])]
    if trace.options["form"] == "path" and any(row["where"] for row in trace.nodes):
        parts.append(text(right + 12, 12, "the kernel's code", "small muted"))
    return "".join(parts)


def _row(trace, row, left, right, width):
    """One line: the label, its cells, where the kernel stands."""
    parts = [rect(MARGIN - 8, 0, width - 2 * MARGIN + 16, _ROW - 2, "back", 4)]
    style = "muted" if row["kind"] == "context" else "opname"
    parts.append(text(MARGIN + _indent(row), 16, row["label"], style))
    for k, key in enumerate(trace.options["columns"]):
        role = row["cells"].get(key)
        if role:
            parts.append(_cell(trace, row, key, role, left + k * _CELL))
    parts.append(text(right + 12, 16, row["where"], "small muted"))
    return "".join(parts)


def _cell(trace, row, key, role, x):
    word = words_of(role, trace.options["form"])
    place = row.get("tips", {}).get(key, "")
    tip = tag("title", escape(f"{row['label']}, {key}: {word} {place}".strip()))
    box = rect(x + 3, 2, _CELL - 6, _ROW - 6, "box", 4)
    return group(tip + box + text(x + _CELL / 2, 15, word, "cell mid"), class_=f"{ROLES[role]} {role}")


def _legend(trace):
    form = trace.options["form"]
    present = {role for row in trace.nodes for role in row["cells"].values()}
    items = []
    for role, meaning in _MEANINGS.items():
        if role in present:
            words = meaning if isinstance(meaning, str) else meaning[form]
            sample = group(rect(0, 0, 26, 14, "box", 3), class_=f"{ROLES[role]} {role}")
            items.append((sample, words_of(role, form), words))
    return items
