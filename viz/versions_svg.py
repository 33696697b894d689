"""An alias map as SVG: a ruler of the storage, a translucent hull per tensor, badges and chips."""

from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, text
from viz.theme import mono_width

_LINE = 34
_CELL = 38
_SPAN = 480
_ROLES = {"leaf": "leaf", "result": "nonleaf", "view": "retained", "plain": "fold"}
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.hull{fill-opacity:.35}
.slot{fill:none;stroke:var(--band-line)}.touch{stroke:none;opacity:.55}
.chip>.box{fill:var(--saved);stroke:var(--saved-line)}
.stale>.box{fill:var(--ended);stroke:var(--ended-line);stroke-width:2.2}
.stale text{fill:var(--ended-line);font-weight:700}
.fresh>.box{fill:var(--saved);stroke:var(--saved-line);stroke-width:1.2}
.fresh text{fill:var(--ink);font-weight:400}
.fresh .old{display:none}.later{opacity:.25}.later .old{display:none}
.now>.hull{stroke-width:3;fill-opacity:.6}.now .badge{stroke:var(--accent-line);stroke-width:2.4}
.badge{fill:var(--paper);stroke:var(--op-line)}.version{font-weight:700}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    page = _Page(trace)
    head, y = header(trace, page.width)
    parts = [head]
    for storage in trace.groups:
        members = [node for node in trace.nodes if node["storage"] == storage["id"]]
        block, height = page.storage(storage, members)
        parts.append(group(block, transform=f"translate(0 {number(y)})"))
        y += height + 18
    key, y = legend(_legend(trace), y, page.width)
    return document(trace, "".join(parts) + key, page.width, y + MARGIN - 6, _CSS)


class _Page:
    """left: where every ruler begins. step: pixels per slot."""

    def __init__(self, trace):
        tensors = [node for node in trace.nodes if node["kind"] == "tensor"]
        labels = [mono_width(node["label"], 13) + mono_width(node["what"], 10) for node in tensors]
        self.left = MARGIN + max(150, max(labels, default=0) + 26)
        longest = max((mono_width(cell, 11) for s in trace.groups for cell in s["cells"]), default=0)
        self.cell = max(_CELL, longest + 10)
        spans = [self._span(storage) for storage in trace.groups]
        self.width = max(700, self.left + max(spans) + 90)

    def _span(self, storage):
        return self.cell * storage["slots"] if storage["cells"] else _SPAN

    def _x(self, slot, storage):
        return self.left + self._span(storage) * slot / max(1, storage["slots"])

    def storage(self, storage, members):
        """(svg, height) of one storage with its tensors and chips."""
        tensors = [node for node in members if node["kind"] == "tensor"]
        chips = [node for node in members if node["kind"] == "chip"]
        parts = [text(MARGIN, 16, "storage", "note word"), self._ruler(storage)]
        parts += [self._tensor(node, storage, 34 + k * _LINE) for k, node in enumerate(tensors)]
        top = 40 + len(tensors) * _LINE
        parts += [self._chip(node, top + k * 28) for k, node in enumerate(chips)]
        return group("".join(parts), data_id=storage["id"]), top + len(chips) * 28

    def _ruler(self, storage):
        if not storage["cells"]:
            bar = rect(self.left, 2, self._span(storage), 20, "slot", 3)
            return bar + text(self.left + 8, 16, f"{storage['slots']} slots", "small muted")
        parts = []
        for slot, word in enumerate(storage["cells"]):
            x = self._x(slot, storage)
            parts.append(
                rect(x, 2, self.cell, 20, "slot")
                + text(x + self.cell / 2, 16, word, "mid", data_id=f"{storage['id']}.{slot}")
            )
        return "".join(parts)

    def _tensor(self, node, storage, y):
        role = _ROLES[node["role"]]
        first, last = self._x(node["first"], storage), self._x(node["last"] + 1, storage)
        hull = rect(first + 1, y, max(4, last - first - 2), 24, f"{role} box hull", 8)
        touched = [self._touch(slot, storage, y, role) for slot in node["used"]] if storage["cells"] else []
        words = text(MARGIN, y + 16, node["label"], "name")
        words += text(self.left - 14, y + 16, node["what"], "small muted end")
        return group(hull + "".join(touched) + words + _badge(node, last + 8, y), data_id=node["id"], data_card="")

    def _touch(self, slot, storage, y, role):
        x = self._x(slot, storage) + self.cell / 2 - 5
        return rect(x, y + 7, 10, 10, f"{role}-ink touch", 2)

    def _chip(self, node, y):
        words = f"{node['label']} at v{node['at']}"
        width = mono_width(words, 11) + 16
        stale = f"stale: the storage is at v{node['now']}"
        old = text(self.left + width + 10, y + 15, stale, "old", data_id=f"{node['id']}.old")
        content = rect(self.left, y, width, 21, "box", 10) + text(self.left + 8, y + 15, words) + old
        return group(content, data_id=node["id"], data_card="", class_=f"chip {node['state']}")


def _badge(node, x, y):
    word = "none" if node["version"] is None else f"v{node['version']}"
    box = rect(x, y + 3, 34, 18, "badge", 9)
    return box + text(x + 17, y + 16, word, "version mid", data_id=f"{node['id']}.version")


_WORDS = {
    "leaf": "no operation made it, and it requires grad",
    "result": "the result of an operation, with its own storage",
    "view": "a view: another tensor's storage, and the same version counter",
    "plain": "requires no grad; detach() shares the counter too, .data does not",
}


def _legend(trace):
    used = {node["role"] for node in trace.nodes if node["kind"] == "tensor"}
    items = [(rect(0, 1, 26, 13, f"{_ROLES[r]} box hull", 5), r, words) for r, words in _WORDS.items() if r in used]
    badge = rect(0, 0, 26, 15, "badge", 7) + text(13, 11, "v2", "small mid")
    items.append((badge, "version", "counts the in-place operations on the storage, through whichever tensor"))
    chips = {node["state"] for node in trace.nodes if node["kind"] == "chip"}
    chip = group(rect(0, 1, 26, 13, "box", 6), class_="chip fresh")
    if chips:
        items.append((chip, "saved", "kept for backward, with the version it had; backward() compares"))
    if "stale" in chips:
        stale = group(rect(0, 1, 26, 13, "box", 6), class_="chip stale")
        items.append((stale, "stale", "changed since: backward() raises a RuntimeError when it needs this one"))
    return items
