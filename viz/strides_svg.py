"""A stride trace as SVG: grid above, storage ruler below, one colour per row of the grid."""

from viz.grids_svg import CELL_HEIGHT, grids
from viz.strides_cells import SLOTS_PER_ROW
from viz.strides_view_svg import CSS as VIEW_CSS
from viz.strides_view_svg import view_block
from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_MIN_WIDTH = 640
_ROW_ROLES = ("nonleaf", "leaf", "saved", "retained")
_FACT_LINE = 18
_CSS = """
.box{stroke-width:1.1}.line-a{fill:var(--band)}.line-b{fill:none}.line-a,.line-b{stroke:var(--band-line)}
.outside text{fill:var(--muted);opacity:.6}.outside>.box{stroke-dasharray:2 2}
.word,.fact{font-weight:600;fill:var(--ink)}.bad{fill:var(--ended-line);font-weight:700}.good{fill:var(--leaf-line)}
.now>.box,.hot>.box{stroke:var(--accent-line);stroke-width:3}.now>.box{fill:var(--accent)}
.tie{stroke:var(--accent-line);stroke-width:1.6;fill:none;pointer-events:none}
.live{display:none}.walk{font-weight:700;fill:var(--accent-line)}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    page = _Page(trace)
    page.add(_tables(trace, page.width))
    page.add(_grids(trace, page.width, page.cell))
    page.add(_storage(trace, page.cell))
    if "view" in trace.options:
        page.add(view_block(trace, page.width))
    key, y = legend(_legend(trace), page.y, page.width)
    return document(trace, "".join(page.parts) + key, page.width, y + MARGIN - 6, _CSS + VIEW_CSS)


class _Page:
    """Blocks below each other. cell: width of an element and of a slot."""

    def __init__(self, trace):
        longest = max((len(node["text"]) for node in trace.nodes), default=1)
        self.cell = max(34, round(mono_width("0" * longest, 11)) + 10)
        self.width = max(_MIN_WIDTH, _ruler_left() + SLOTS_PER_ROW * self.cell + MARGIN)
        head, self.y = header(trace, self.width)
        self.parts = [head]

    def add(self, block):
        """block: (svg with its top at 0, height)."""
        content, height = block
        if height:
            self.parts.append(group(content, transform=f"translate(0 {number(self.y)})"))
            self.y += height + 14


# Facts and dims


def _tables(trace, width):
    facts = trace.options["facts"]
    left = [
        text(MARGIN, 12 + k * _FACT_LINE, name, "note fact") + text(MARGIN + 62, 12 + k * _FACT_LINE, value)
        for k, (name, value) in enumerate(facts)
    ]
    right, rows = _dim_table(trace.options["dims"], MARGIN + 270)
    return "".join(left) + right, max(len(facts), rows) * _FACT_LINE


def _dim_table(dims, x):
    """Stride beside the stride a contiguous tensor would have."""
    if not dims:
        return text(x, 12, "0-d: one element, at the offset", "note"), 1
    columns = (x, x + 54, x + 104, x + 168)
    titles = ("dim", "size", "stride", "contiguous would be")
    parts = [text(left, 12, title, "note fact") for left, title in zip(columns, titles, strict=True)]
    for k, dim in enumerate(dims, 1):
        y = 12 + k * _FACT_LINE
        parts += [
            text(columns[0], y, dim["dim"]),
            text(columns[1], y, dim["size"]),
            text(columns[2], y, dim["stride"]),
            _dim_verdict(dim, columns[3], y),
        ]
    return "".join(parts), len(dims) + 1


def _dim_verdict(dim, x, y):
    word, css = {"ok": ("the same", "good"), "differs": ("different", "bad"), "ignored": ("does not matter", "muted")}[
        dim["verdict"]
    ]
    return text(x, y, f"{dim['needed']}", "") + text(x + 62, y, word, css)


# Grids


def _grids(trace, width, cell):
    """The panels of the tensor."""
    nodes = trace.by_id()

    def element(entry, x, y):
        return _box(nodes[entry], x, y, cell, _role(nodes[entry]["row"]))

    content, _, height = grids(trace.options["panels"], cell, element, MARGIN, width - MARGIN)
    return content, height


def _role(row):
    return "op" if row is None else _ROW_ROLES[row % len(_ROW_ROLES)]


def _box(node, x, y, cell, css):
    content = rect(x + 1, y + 1, cell - 2, CELL_HEIGHT - 2, "box", 3)
    words = text(x + cell / 2, y + 17, node["text"], "mid")
    tip = tag("title", node["tip"].replace("&", "&amp;").replace("<", "&lt;"))
    return group(tip + content + words, data_id=node["id"], data_card="", class_=css)


# Storage


def _ruler_left():
    return MARGIN + 44


def _storage(trace, cell):
    storage, nodes = trace.options["storage"], trace.by_id()
    if not storage["slots"]:
        return text(MARGIN, 12, "storage: empty", "note fact"), 16
    parts, y = [text(MARGIN, 12, "storage", "note fact"), _walk_counter(trace)], 20
    for row in storage["rows"]:
        if row is None:
            parts.append(text(MARGIN, y + 12, "...  slots not shown", "small muted"))
            y += 20
            continue
        parts.append(group(_ruler(row, nodes, cell), transform=f"translate({_ruler_left()} {y})"))
        parts.append(text(_ruler_left() - 8, y + 17, row[0], "small muted end"))
        y += 48
    return "".join(parts), y


def _ruler(row, nodes, cell):
    slots = [nodes[f"s{n}"] for n in range(row[0], row[1] + 1)]
    return "".join(_bands(slots, cell)) + "".join(_slot(s, k * cell, cell) for k, s in enumerate(slots))


def _bands(slots, cell):
    """One band per cache line, alternately tinted, with its number where it starts."""
    start = 0
    for k in range(1, len(slots) + 1):
        if k < len(slots) and slots[k]["line"] == slots[start]["line"]:
            continue
        line = slots[start]["line"]
        yield rect(start * cell, -3, (k - start) * cell, 45, "line-b" if line % 2 else "line-a", 4)
        start = k


def _slot(slot, x, cell):
    css = _role(slot["row"]) if slot["links"] else "op" if slot["used"] else "pale outside"
    shared = f" x{slot['shared']}" if slot["shared"] else ""
    return _box(slot, x, 0, cell, css) + text(x + cell / 2, 37, f"{slot['number']}{shared}", "small muted mid")


def _walk_counter(trace):
    """Filled in by the player; a picture at rest does not show it."""
    if not any("walk" in step["set"] for step in trace.steps):
        return ""
    x = _ruler_left() + 40
    words = text(x, 12, "cache line changes so far:", "note") + text(x + 190, 12, "", "walk", data_id="walk")
    return group(words, class_="live")


# Legend


def _swatch(css, content=""):
    return group(rect(0, 0, 26, 14, "box", 3), class_=css) + content


def _row_meaning(trace):
    rows = {node["row"] for node in trace.nodes if node["kind"] == "cell"}
    meaning = "a row of the grid, and the storage slots where it lies"
    if len(rows) <= len(_ROW_ROLES):
        return meaning
    return f"{meaning}; {len(_ROW_ROLES)} colours take turns, so pointing at an element tells its slot apart"


def _legend(trace):
    slots = [node for node in trace.nodes if node["kind"] == "slot"]
    items = []
    if any(node["kind"] == "cell" for node in trace.nodes):
        items.append((_swatch("nonleaf"), "same colour", _row_meaning(trace)))
    shared = max((slot["shared"] for slot in slots), default=0)
    if shared:
        sample = f"x{shared}"
        meaning = f"{shared} of the elements drawn are this one slot"
        items.append((text(13, 11, sample, "small mid muted"), sample, meaning))
    if any(slot["used"] and slot["row"] is None for slot in slots):
        items.append((_swatch("op"), "grey slot", "holds elements of several rows, or one that is not drawn"))
    if any(not slot["used"] for slot in slots):
        items.append((_swatch("pale outside"), "pale slot", "part of the storage, but outside this tensor"))
    if slots:
        items.append(
            (
                rect(0, 0, 26, 14, "line-a", 3),
                "band",
                "one cache line of 64 bytes, counted from the start of the storage",
            )
        )
    return items
