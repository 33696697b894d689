"""A trace of picked elements as SVG: where they come from above, where they go below."""

from html import escape

from viz.grids_svg import CELL_HEIGHT, grids
from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_MIN_WIDTH = 640
_MAX_WIDTH = 1000
_BLOCK_GAP = 40
_ROLES = ("nonleaf", "leaf", "saved", "retained")
_CSS = """
.box{stroke-width:1.1}.word,.fact{font-weight:600;fill:var(--ink)}
.pale text{fill:var(--muted)}.pale>.box{stroke-dasharray:2 2}
.shared>.box{stroke:var(--ended-line);stroke-width:2}.times{fill:var(--ended-line);font-weight:700;font-size:8px}
.now>.box,.hot>.box{stroke:var(--accent-line);stroke-width:3}.now>.box{fill:var(--accent)}
.tie{stroke:var(--accent-line);stroke-width:1.6;fill:none;pointer-events:none}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    rows = _rows(trace, _cell_width(trace))
    width = max(_MIN_WIDTH, max((wide for _, wide, _ in rows), default=0) + 2 * MARGIN)
    head, y = header(trace, width)
    parts = [head]
    for content, _, height in rows:
        parts.append(group(content, transform=f"translate({MARGIN} {number(y)})"))
        y += height + 18
    key, y = legend(_legend(trace), y, width)
    return document(trace, "".join(parts) + key, width, y + MARGIN - 6, _CSS)


def _cell_width(trace):
    longest = max((len(node["text"]) for node in trace.nodes), default=1)
    return max(40, round(mono_width("0" * longest, 11)) + 20)


def _rows(trace, cell):
    """(svg, width, height) for each row of blocks; those that do not fit beside each other get their own."""
    nodes, rows = trace.by_id(), []
    for blocks in trace.options["rows"]:
        drawn = [_block(block, nodes, cell, "x" in _keys(blocks)) for block in blocks]
        beside = sum(wide for _, wide, _ in drawn) + _BLOCK_GAP * (len(drawn) - 1) <= _MAX_WIDTH - 2 * MARGIN
        rows += [_beside(drawn)] if beside else drawn
    return rows


def _keys(blocks):
    return [block["key"] for block in blocks]


def _beside(drawn):
    x, parts = 0, []
    for content, wide, _ in drawn:
        parts.append(group(content, transform=f"translate({number(x)} 0)"))
        x += wide + _BLOCK_GAP
    return "".join(parts), x - _BLOCK_GAP, max(height for _, _, height in drawn)


def _block(block, nodes, cell, has_index):
    """A title, and the grids of one tensor; returns (svg, width, height)."""
    untied = block["key"] == "x" and has_index and _has_source(nodes)

    def element(entry, x, y):
        return _element(nodes[entry], x, y, cell, untied)

    content, wide, height = grids(block["panels"], cell, element, 0, _MAX_WIDTH - 2 * MARGIN)
    title = f"{block['name']}, shape {tuple(block['shape'])}"
    words = text(0, 12, title, "fact")
    return words + group(content, transform="translate(0 22)"), max(wide, mono_width(title, 11)), height + 22


def _has_source(nodes):
    """With a source and a target the line joins these two, and not the index."""
    return any(node["block"] in ("i", "s") for node in nodes.values())


def _element(node, x, y, cell, untied):
    role = "pale" if node["colour"] is None else _ROLES[node["colour"]]
    content = rect(x + 1, y + 1, cell - 2, CELL_HEIGHT - 2, "box untied" if untied else "box", 3)
    words = text(x + cell / 2, y + 17, node["text"], "mid", data_id=f"v{node['id']}")
    times = text(x + cell - 4, y + 9, f"x{node['shared']}", "times end") if node["shared"] else ""
    tip = tag("title", escape(node["tip"]))
    css = f"{role} shared" if node["shared"] else role
    return group(tip + content + words + times, data_id=node["id"], data_card="", class_=css)


def _legend(trace):
    def swatch(css):
        return group(rect(0, 0, 26, 14, "box", 3), class_=css)

    items = [(swatch("nonleaf"), "same colour", trace.options["colours"])]
    if any(node["colour"] is None for node in trace.nodes):
        items.append((swatch("pale"), "dashed", trace.options["pale"]))
    shared = [node["shared"] for node in trace.nodes if node["shared"]]
    if shared:
        items.append((swatch("nonleaf shared"), f"red, x{max(shared)}", trace.options["shared"]))
    return items
