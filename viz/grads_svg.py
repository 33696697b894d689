"""A table of gradients as SVG: a bar of bytes per gradient, full where it is kept."""

from viz.grads_trace import OUTCOMES
from viz.svg_parts import MARGIN, document, group, header, legend, rect, text
from viz.tensors import human_bytes
from viz.theme import mono_width

_LINE = 26
_BAR = 150
_ROLES = {"leaf": "leaf", "retained": "retained", "non-leaf": "nonleaf", "none": "pale"}
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.dropped{stroke-dasharray:3 3}
.dropped.box{fill:none}.head{font-weight:600}
"""


def draw(trace):
    """The complete SVG."""
    columns = _columns(trace)
    width = max(720, columns[-1] + 150 + MARGIN)
    head, y = header(trace, width)
    titles = ["gradient of", "kind", "shape", "bytes", "outcome", ".grad now"]
    heads = "".join(text(x, y + 10, word, "note head") for x, word in zip(columns, titles, strict=True))
    rows = "".join(_row(node, y + 18 + k * _LINE, columns, trace) for k, node in enumerate(trace.nodes))
    key, y = legend(_legend(trace), y + 18 + len(trace.nodes) * _LINE + 12, width)
    return document(trace, head + heads + rows + key, width, y + MARGIN - 6, _CSS.replace("\n", ""))


def _columns(trace):
    """The left edges of the six columns."""
    label = max((mono_width(node["label"], 13) for node in trace.nodes), default=0)
    shape = max((mono_width(node["what"], 11) for node in trace.nodes), default=0)
    edges = [MARGIN, MARGIN + max(90, label) + 16]
    edges.append(edges[1] + 92)
    edges.append(edges[2] + max(60, shape) + 16)
    edges.append(edges[3] + _BAR + 70)
    edges.append(edges[4] + 170)
    return edges


def _row(node, y, columns, trace):
    role, middle = _ROLES[node["kind"]], y + 16
    badge = group(
        rect(columns[1], y + 4, 76, 17, "box", 5) + text(columns[1] + 38, middle, _word(node), "small mid"),
        class_=role,
    )
    parts = [text(columns[0], middle, node["label"], "name"), badge, text(columns[2], middle, node["what"])]
    parts += [_bar(node, y, columns[3], trace.options["largest"], role)]
    parts.append(text(columns[4], middle, OUTCOMES[node["kind"]], "note"))
    parts.append(text(columns[5], middle, _held(node)))
    return group("".join(parts), data_id=node["id"], data_card="")


def _word(node):
    return "no gradient" if node["kind"] == "none" else node["kind"]


def _held(node):
    if node["kind"] in ("leaf", "retained"):
        return "None" if node["grad"] is None else node["grad"]["text"]
    return "" if node["kind"] == "none" else "–"


def _bar(node, y, x, largest, role):
    if not node["bytes"]:
        return ""
    length = max(3, _BAR * node["bytes"] / largest)
    css = f"{role} box dropped" if node["kind"] == "non-leaf" else f"{role} box"
    return rect(x, y + 6, length, 13, css, 2) + text(
        x + length + 6, y + 16, human_bytes(node["bytes"]), "small muted"
    )


def _legend(trace):
    words = {
        "leaf": "no operation made it: its gradient is added to .grad and stays",
        "retained": "a result with retain_grad(): its gradient is kept too",
        "non-leaf": "a result: its gradient is computed, passed on and dropped: memory for a while",
        "none": "requires_grad is False: no gradient is computed",
    }
    used = {node["kind"] for node in trace.nodes}
    return [(_swatch(kind), kind, words[kind]) for kind in words if kind in used]


def _swatch(kind):
    css = f"{_ROLES[kind]} box dropped" if kind == "non-leaf" else f"{_ROLES[kind]} box"
    return rect(0, 1, 26, 12, css, 2)
