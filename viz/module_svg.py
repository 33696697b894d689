"""The tree of a module as SVG: a row per module and per tensor, and the shapes of a call on the right."""

from viz.module_trace import STATES
from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_LINE = 24
_INDENT = 20
_SHORT = 44
_ROLES = {"parameter": "leaf", "frozen": "pale", "buffer": "saved", "unsaved": "saved", "fold": "fold"}
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.twig{stroke:var(--band-line);fill:none}
.unsaved>.box{stroke-dasharray:3 3}.type{fill:var(--muted)}.flow{fill:var(--nonleaf-line);font-weight:600}
.shared>.box{stroke:var(--accent-line);stroke-width:2}.same{fill:var(--accent-line);font-weight:600}
.bar{fill:none;stroke:none}
.now>.bar,.hot>.bar{fill:var(--accent);stroke:none}.tie{stroke:var(--accent-line);stroke-width:1.6;fill:none}
.mode{font-weight:600}.train>.box{fill:var(--nonleaf);stroke:var(--nonleaf-line)}
.eval>.box{fill:var(--retained);stroke:var(--retained-line)}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    page = _Page(trace)
    head, y = header(trace, page.width)
    y += 4
    top = {}
    for node in trace.nodes:
        top[node["id"]] = y
        y += _LINE
    twigs = _twigs(trace.nodes, top)
    rows = "".join(page.row(node, top[node["id"]]) for node in trace.nodes)
    key, y = legend(_legend(trace), y + 12, page.width)
    return document(trace, head + twigs + rows + key, page.width, y + MARGIN - 6, _CSS)


class _Page:
    """Columns: names, then what a tensor is, its bytes, what it is for; the shapes of the call."""

    def __init__(self, trace):
        self.nodes = trace.nodes
        tensors = [node for node in self.nodes if "what" in node]
        self.what = MARGIN + max((self._end_of_name(node) for node in tensors), default=0) + 14
        self.size = self.what + self._widest(tensors, "what", 11) + 14
        self.state = self.size + self._widest(tensors, "size", 11) + 14
        end = self.state + self._widest(tensors, "state", 11)
        others = [node for node in self.nodes if "what" not in node]
        end = max(end, MARGIN + max((self._end_of_module(node) for node in others), default=0))
        self.flow = end + 20
        flows = max((mono_width(node["flow"], 11) for node in others), default=0)
        self.width = max(700, (self.flow + flows if flows else end) + MARGIN + 8)

    @staticmethod
    def _widest(nodes, key, size):
        return max((mono_width(node[key], size) for node in nodes), default=0)

    @staticmethod
    def _end_of_name(node):
        return node["depth"] * _INDENT + mono_width(node["label"], 11) + 16

    @staticmethod
    def _end_of_module(node):
        words = "  ".join([node["type"], *node["words"]])
        return node["depth"] * _INDENT + mono_width(node["label"], 13) + mono_width(words, 11) + _SHORT + 30

    def row(self, node, y):
        x = MARGIN + node["depth"] * _INDENT
        bar = rect(x - 4, y + 1, self.width - x - 8, _LINE - 2, "bar", 4)
        content = self._tensor(node, x, y) if "what" in node else self._module(node, x, y)
        css = node["kind"] if "what" in node else ""
        return group(bar + content, data_id=node["id"], data_card="", class_=css)

    def _tensor(self, node, x, y):
        css = f"{_ROLES[node['kind']]} {node['kind']}" + (" shared" if node["is_shared"] else "")
        name = rect(x, y + 3, mono_width(node["label"], 11) + 12, 18, "box", 5)
        name = group(name + text(x + 6, y + 16, node["label"]), class_=css)
        state = "same" if node["state"] != STATES[node["kind"]] else "small muted"
        parts = [name, text(self.what, y + 16, node["what"]), text(self.size, y + 16, node["size"], "muted")]
        tip = "" if not node["is_shared"] else tag("title", f"one tensor, also called {node['first']}")
        return tip + "".join(parts) + text(self.state, y + 16, node["state"], state)

    def _module(self, node, x, y):
        if node["kind"] == "fold":
            return self._fold(node, x, y)
        parts = [text(x, y + 16, node["label"], "name")]
        x += mono_width(node["label"], 13) + 8
        parts.append(text(x, y + 16, node["type"], "type"))
        x += mono_width(node["type"], 11) + 10
        if node["mode"]:
            badge = rect(x, y + 5, _SHORT, 15, "box", 7) + text(x + _SHORT / 2, y + 16, node["mode"], "small mid mode")
            parts.append(group(badge, class_=node["mode"]))
            x += _SHORT + 10
        for word in node["words"]:
            parts.append(text(x, y + 16, word, "same"))
            x += mono_width(word, 11) + 12
        return "".join(parts) + text(self.flow, y + 16, node["flow"], "flow")

    def _fold(self, node, x, y):
        width = mono_width(f"{node['label']}  {node['type']}", 11) + 16
        box = group(rect(x, y + 3, width, 18, "box", 5), class_="fold")
        words = text(x + 8, y + 16, f"{node['label']}  {node['type']}")
        return box + words + text(self.flow, y + 16, node["flow"], "flow")


def _twigs(nodes, top):
    """A line from each module down to its rows."""
    parts = []
    for k, node in enumerate(nodes):
        if node["kind"] != "module":
            continue
        below = []
        for other in nodes[k + 1 :]:
            if other["depth"] <= node["depth"]:
                break
            if other["depth"] == node["depth"] + 1:
                below.append(top[other["id"]])
        x = MARGIN + node["depth"] * _INDENT + 5
        parts += [_twig(x, top[node["id"]] + 21, y + 12) for y in below]
    return "".join(parts)


def _twig(x, start, end):
    return tag("path", d=f"M{number(x)},{number(start)}V{number(end)}h{_INDENT - 9}", class_="twig")


_WORDS = {
    "parameter": ("trained", "a Parameter: parameters() gives it to the optimizer, and requires_grad is True"),
    "frozen": ("frozen", "a Parameter with requires_grad False: it gets no gradient"),
    "buffer": ("buffer", "belongs to the state, moves with .to() and is saved, but is not trained"),
    "unsaved": ("not saved", "a buffer with persistent=False: state_dict leaves it out"),
}


def _legend(trace):
    used = {node["kind"] for node in trace.nodes}
    items = [
        (group(rect(0, 1, 26, 13, "box", 5), class_=f"{_ROLES[kind]} {kind}"), *words)
        for kind, words in _WORDS.items()
        if kind in used
    ]
    if any(node.get("is_shared") for node in trace.nodes):
        sample = group(rect(0, 1, 26, 13, "box", 5), class_="leaf shared")
        items.append((sample, "shared", "one tensor under several names; point at it to see them"))
    if "fold" in used:
        items.append((group(rect(0, 1, 26, 13, "box", 5), class_="fold"), "folded", "modules that are not drawn"))
    if trace.options["flows"]:
        sample = text(0, 11, "2.", "flow")
        items.append((sample, "shapes", "when the module was called, what it took and what it gave"))
    return items
