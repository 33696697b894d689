"""A grid of coloured cells with a head line, which wraps when it is wide: what ranks do, or hold."""

from viz.svg_parts import MARGIN, document, group, header, legend, rect, text

ROW, HEAD = 26, 40
CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.later{opacity:.15}.shown{opacity:1}
.now>.box{stroke-width:3}
""".replace("\n", "")


class Grid:
    """Rows and columns of a trace; ``node["row"]`` and ``node["column"]`` are indices of its groups.

    rows, columns: groups of the trace; left: pixels for the rows' labels; wide: pixels of a column; across:
    columns in one line.
    """

    def __init__(self, trace, rows, columns, left, wide, across):
        self.trace, self.rows, self.columns = trace, rows, columns
        self.left, self.wide, self.across = left, wide, max(1, min(across, len(columns)))

    @property
    def width(self):
        return max(560, 2 * MARGIN + self.left + self.across * self.wide)

    def draw(self, roles, words):
        """The complete SVG; roles and words: of each kind of node."""
        head, top = header(self.trace, self.width)
        bands = -(-len(self.columns) // self.across) or 1
        self.top, self.band = top + 4, HEAD + len(self.rows) * ROW + 14
        body = "".join(self.heads()) + "".join(self.labels(bands)) + "".join(self.cells(roles))
        used = {node["kind"] for node in self.trace.nodes}
        items = [
            (rect(0, 1, 26, 13, f"{roles[kind]} box", 3), kind, said)
            for kind, said in words.items()
            if kind in used
        ]
        key, below = legend(items, self.top + bands * self.band + 6, self.width)
        return document(self.trace, head + body + key, self.width, below + MARGIN - 6, CSS)

    def x(self, column):
        return MARGIN + self.left + column % self.across * self.wide

    def y(self, column, row):
        return self.top + column // self.across * self.band + HEAD + row * ROW

    def heads(self):
        for number, column in enumerate(self.columns):
            x, y = self.x(number) + self.wide / 2, self.y(number, 0)
            lines = [
                text(x, y - 22 + 12 * k, line, "small mid" + (" muted" if k else ""))
                for k, line in enumerate(column["label"].split("\n"))
            ]
            yield group("".join(lines), data_id=column["id"])

    def labels(self, bands):
        for number, row in enumerate(self.rows):
            names = [
                text(MARGIN, self.y(band * self.across, number) + 16, row["label"], "note word")
                for band in range(bands)
            ]
            yield group("".join(names), data_id=row["id"])

    def cells(self, roles):
        for node in self.trace.nodes:
            x, y = self.x(node["column"]), self.y(node["column"], node["row"])
            box = rect(x + 2, y + 2, self.wide - 4, ROW - 4, "box", 3)
            yield group(
                box + text(x + self.wide / 2, y + 17, node["label"], "small mid"),
                data_id=node["id"],
                data_card="",
                class_=roles[node["kind"]],
            )
