"""Who holds a storage, as SVG: holders on the left, the tensors in the middle, the storage on the right."""

from viz.holders_text import verdict
from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.tensors import human_bytes
from viz.theme import mono_width

ROLES = {"leaf": "leaf", "result": "nonleaf", "view": "retained", "plain": "fold"}
SORTS = {
    "python": "leaf",
    "view": "retained",
    "saved": "saved",
    "leaf": "nonleaf",
    "grad": "nonleaf",
    "array": "accent",
    "shared": "accent",
    "stream": "accent",
}
_CHIP = 24
_GAP = 46
_CSS = """
.chip>.box{stroke-width:1.2}.wire{fill:none;stroke:var(--op-line);stroke-width:1.2}
.head{font-weight:600;fill:var(--muted)}.frees{fill:var(--added);stroke:var(--added-line)}
.keeps{fill:var(--pale);stroke:var(--pale-line)}.total{font-weight:700;font-size:13px}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    page = _Page(trace)
    head, y = header(trace, page.width)
    map_, height = page.map()
    parts = [head, group(map_, transform=f"translate(0 {number(y)})")]
    y += height + 14
    if trace.options["rows"]:
        table, height = page.table(trace.options["rows"])
        parts.append(group(table, transform=f"translate(0 {number(y)})"))
        y += height + 10
    key, y = legend(_legend(trace), y, page.width)
    return document(trace, "".join(parts) + key, page.width, y + MARGIN - 6, _CSS)


class _Page:
    """Three columns: chips (their width), tensors at ``middle``, the storage at ``right``."""

    def __init__(self, trace):
        self.trace = trace
        self.tensors = [node for node in trace.nodes if node["kind"] == "tensor"]
        chips = [node for node in trace.nodes if node["kind"] == "holder"]
        self.chip = max([mono_width(node["label"], 11) + 18 for node in chips] + [120])
        self.tensor = max(
            [max(mono_width(n["label"], 13), mono_width(n["what"], 10)) + 22 for n in self.tensors] + [110]
        )
        self.middle = MARGIN + self.chip + _GAP
        self.right = self.middle + self.tensor + _GAP
        rows = trace.options["rows"]
        verdicts = [mono_width(row["label"], 11) + mono_width(verdict(row), 11) + 150 for row in rows]
        self.width = max(620, self.right + 130 + MARGIN, max(verdicts, default=0) + 2 * MARGIN)

    def _held(self, ident):
        return [node for node in self.trace.nodes if node["kind"] == "holder" and node["of"] == ident]

    def map(self):
        """(svg, height) of the holders, the tensors and the storage."""
        y = 22
        parts = [
            text(MARGIN, 10, "held by", "head"),
            text(self.middle, 10, "tensors over it", "head"),
            text(self.right, 10, "memory", "head"),
        ]
        middles, blocks = [], []
        for node in self.tensors:
            held = self._held(node["id"])
            height = max(40, len(held) * (_CHIP + 4))
            blocks.append(self._tensor(node, held, y, height))
            middles.append((node["id"], y + height / 2))
            y += height + 16
        below = self._held("m")
        base = y
        y += len(below) * (_CHIP + 4)
        bottom = max(y - 12, 70)
        parts += [self._wire(f"{ident}-m", self.middle + self.tensor, at, self.right, at) for ident, at in middles]
        parts += [self._outside(node, base + k * (_CHIP + 4)) for k, node in enumerate(below)]
        return "".join(parts + blocks) + self._storage(22, bottom - 22), bottom + 6

    def _wire(self, ident, x1, y1, x2, y2):
        bend = (x1 + x2) / 2
        path = (
            f"M{number(x1)} {number(y1)}C{number(bend)} {number(y1)} {number(bend)} {number(y2)} "
            f"{number(x2)} {number(y2)}"
        )
        return tag("path", d=path, class_="wire", data_id=ident)

    def _tensor(self, node, held, y, height):
        middle = y + height / 2
        top = middle - len(held) * (_CHIP + 4) / 2 + 2
        parts = []
        for k, holder in enumerate(held):
            at = top + k * (_CHIP + 4)
            edge = f"{holder['id']}-{node['id']}"
            parts.append(self._wire(edge, MARGIN + self.chip, at + _CHIP / 2, self.middle, middle))
            parts.append(self._chip(holder, at))
        box = rect(self.middle, middle - 19, self.tensor, 38, f"{ROLES[node['role']]} box", 8)
        words = text(self.middle + 10, middle - 3, node["label"], "name")
        words += text(self.middle + 10, middle + 11, node["what"], "small muted")
        return "".join(parts) + group(box + words, data_id=node["id"], data_card="")

    def _chip(self, holder, y):
        role = SORTS.get(holder["sort"], "pale")
        box = rect(MARGIN, y, self.chip, _CHIP, f"{role} box", 11)
        return group(box + text(MARGIN + 9, y + 16, holder["label"]), data_id=holder["id"], class_="chip")

    def _outside(self, holder, y):
        wire = self._wire(f"{holder['id']}-m", MARGIN + self.chip, y + _CHIP / 2, self.right, y + _CHIP / 2)
        return wire + self._chip(holder, y)

    def _storage(self, y, height):
        storage = self.trace.groups[0]
        box = rect(self.right, y, 120, height, "op box", 8)
        words = text(self.right + 60, y + height / 2 - 2, "storage", "mid")
        words += text(self.right + 60, y + height / 2 + 15, storage["size"], "mid total")
        return group(box + words, data_id=storage["id"], data_card="")

    def table(self, rows):
        """(svg, height): what each deletion would free."""
        label = max(mono_width(row["label"], 11) for row in rows) + MARGIN + 16
        parts = [text(MARGIN, 12, "what would be freed", "head")]
        for k, row in enumerate(rows):
            y = 22 + k * 26
            state = "frees" if row["this"] else "keeps"
            size = rect(label, y, 92, 20, state, 4) + text(label + 84, y + 14, human_bytes(row["bytes"]), "end")
            words = text(MARGIN, y + 14, row["label"], "word") + text(label + 104, y + 14, verdict(row))
            parts.append(group(words + size, data_id=row["id"]))
        return "".join(parts), 22 + len(rows) * 26


_WORDS = {
    "python": "a variable, a list, a module: a reference from Python",
    "view": "a view keeps the tensor that it is a view of",
    "saved": "a node of the graph keeps it for its backward, which lets go of it",
    "leaf": "the graph ends at it: AccumulateGrad holds the leaf",
    "grad": "it is the gradient of a tensor",
    "array": "a NumPy array over the same memory",
    "shared": "in shared memory: other processes may hold it too",
    "stream": "a stream has work left that uses it",
}


def _legend(trace):
    used = {node["sort"] for node in trace.nodes if node["kind"] == "holder"}
    return [
        (group(rect(0, 1, 26, 13, f"{SORTS[sort]} box", 6), class_="chip"), sort, words)
        for sort, words in _WORDS.items()
        if sort in used
    ]
