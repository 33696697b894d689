"""An optimizer as SVG: bytes per parameter, and a grid of launches for each implementation."""

from viz.svg_parts import MARGIN, document, group, header, legend, rect, text
from viz.tensors import human_bytes
from viz.theme import mono_width

_LINE = 26
_BAR = 300
_CELL = 21
_GAP = 34
_OP = 72
_STATES = ("retained", "saved", "accent", "added", "band")
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.head{font-weight:600}
.later{opacity:.18}.shown{opacity:1}.now>.box{stroke-width:2.6}.skipped{opacity:.55}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    page = _Page(trace)
    head, y = header(trace, page.width)
    table, y = page.table(y)
    grids, y = page.grids(y + 10)
    key, y = legend(_legend(trace, page), y + 8, page.width)
    return document(trace, head + table + grids + key, page.width, y + MARGIN - 6, _CSS)


class _Page:
    """columns: left edges of name, shape, step, bar. colours: role by part of the bar."""

    def __init__(self, trace):
        self.trace = trace
        self.rows = [node for node in trace.nodes if node["kind"] == "parameter"]
        self.ways = [each for each in trace.groups if each["kind"] == "way"]
        self.head_height = 82 if any(self.cuda_differs(way) for way in self.ways) else 66
        name = max((mono_width(row["label"], 13) for row in self.rows), default=60)
        shape = max((mono_width(row["what"], 11) for row in self.rows), default=60)
        numbers = max((mono_width(_numbers(row), 11) for row in self.rows), default=0)
        self.columns = [MARGIN, MARGIN + name + 18, MARGIN + name + shape + 34]
        self.columns.append(self.columns[2] + max(numbers, 60) + 16)
        self.colours = self._colours()
        shown = len(trace.options["columns"])
        self.grid = _OP + shown * _CELL + (16 if trace.options["hidden"] else 0)
        spans = sum(max(self.grid, 190) + _GAP for _ in self.ways)
        self.width = max(760, self.columns[3] + _BAR + 70 + MARGIN, spans + 2 * MARGIN)

    def _colours(self):
        names = dict.fromkeys(name for row in self.rows for name in row["sizes"])
        state = [name for name in names if name not in ("parameter", "grad")]
        found = {name: _STATES[k % len(_STATES)] for k, name in enumerate(state)}
        return {"parameter": "leaf", "grad": "nonleaf", **found}

    # The table

    def table(self, y):
        parts, last = [], None
        for row in self.rows:
            if row["group"] != last:
                last = row["group"]
                block, y = self.group_line(last, y)
                parts.append(block)
            parts.append(self.row(row, y))
            y += _LINE
        empty = [g["id"] for g in self.trace.groups if g["kind"] == "group" and g["id"] not in self._drawn()]
        return "".join(parts) + "".join(group("", data_id=id) for id in empty), y

    def _drawn(self):
        return {row["group"] for row in self.rows}

    def group_line(self, id, y):
        found = next(each for each in self.trace.groups if each["id"] == id)
        options, lines = [f"{name}={value}" for name, value in found["options"].items()], [""]
        for option in options:
            if mono_width(lines[-1] + option, 11) > self.width - 100 - 2 * MARGIN:
                lines.append("")
            lines[-1] += option + "  "
        words = text(MARGIN, y + 14, found["label"], "note word")
        words += "".join(text(MARGIN + 76, y + 14 + 15 * k, line, "muted") for k, line in enumerate(lines))
        return group(words, data_id=id), y + 24 + 15 * (len(lines) - 1)

    def row(self, row, y):
        middle, columns = y + 16, self.columns
        parts = [text(columns[0], middle, row["label"], "name"), text(columns[1], middle, row["what"], "muted")]
        parts += [text(columns[2], middle, _numbers(row)), self.bar(row, y)]
        css = "skipped" if row["grad"] is None else ""
        return group("".join(parts), data_id=row["id"], data_card="", class_=css)

    def bar(self, row, y):
        x, parts = self.columns[3], []
        for name, size in row["sizes"].items():
            if size:
                width = max(3, _BAR * size / self.trace.options["largest"])
                parts.append(rect(x, y + 5, width, 15, f"{self.colours[name]} box", 2))
                x += width
        return "".join(parts) + text(x + 6, y + 16, human_bytes(sum(row["sizes"].values())), "small muted")

    # The grids

    def grids(self, y):
        if not self.ways:
            return "", y
        parts, x, depth = [], MARGIN, 0
        for way in self.ways:
            cells = [n for n in self.trace.nodes if n["kind"] == "launch" and n["way"] == way["label"]]
            depth = max([depth, *(cell["row"] + 1 for cell in cells)])
            parts.append(group(self.head(way, x, y), data_id=way["id"]))
            parts += [self.cell(cell, x, y + self.head_height) for cell in cells]
            x += max(self.grid, 190) + _GAP
        return "".join(parts), y + self.head_height + depth * _CELL + 8

    @staticmethod
    def cuda_differs(way):
        """Whether a GPU needs other than one launch per operation."""
        return way["cuda"] not in (None, way["launches"])

    def head(self, way, x, y):
        lines = [f"{way['launches']} launches" if way["launches"] != 1 else "1 launch"]
        if way["words"] is not None:
            lines.append(f"{way['words']:g} words per element, {human_bytes(way['bytes'])}")
        words = text(x, y + 14, way["label"], "note word")
        if self.cuda_differs(way):
            lines.append(f"on a GPU {way['cuda']} launches")
        return words + "".join(text(x, y + 31 + 16 * k, line, "note") for k, line in enumerate(lines))

    def cell(self, cell, x, y):
        """One launch: fused fills the grid, foreach a row, the for-loop a square."""
        is_fused = cell["way"] == "fused"
        left = x + _OP + cell["first"] * _CELL
        width = (cell["last"] - cell["first"]) * _CELL
        if not is_fused and self.trace.options["hidden"] and cell["way"] == "foreach":
            width += 14
        height = max(self.fused_rows(), 1) * _CELL if is_fused else _CELL
        top = y + cell["row"] * _CELL
        box = rect(left + 1, top + 1, width - 2, height - 2, "box", 3)
        name = text(x + _OP - 6, top + 15, cell["label"], "small end") if cell["first"] == 0 and not is_fused else ""
        inner = text(left + width / 2, top + height / 2 + 4, "all", "mid") if is_fused else ""
        return name + group(box + inner, data_id=cell["id"], class_="op")

    def fused_rows(self):
        rows = [n["row"] for n in self.trace.nodes if n["kind"] == "launch" and n["way"] == "for-loop"]
        return max(rows, default=0) + 1


def _numbers(row):
    """The numbers of a state, such as the step; or why there is no state."""
    if row["grad"] is None and not row["state"]:
        return "no grad"
    return ", ".join(f"{entry['name']} {entry['text']}" for entry in row["state"] if entry["text"]) or (
        "" if row["state"] else "no state"
    )


def _legend(trace, page):
    words = {"parameter": "the numbers that are trained", "grad": "in .grad; None takes no memory"}
    used = dict.fromkeys(name for row in page.rows for name, size in row["sizes"].items() if size)
    items = [
        (rect(0, 1, 26, 13, f"{page.colours[name]} box", 2), name, words.get(name, "state, kept from step to step"))
        for name in used
    ]
    if page.ways:
        sample = group(rect(4, 0, 16, 15, "box", 3), class_="op")
        across = "a row per operation, a column per parameter"
        if trace.options["hidden"]:
            across += f" ({len(trace.options['columns'])} of "
            across += f"{len(trace.options['columns']) + trace.options['hidden']} are drawn)"
        items.append((sample, "launch", f"one kernel: {across}"))
    return items
