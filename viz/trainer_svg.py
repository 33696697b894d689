"""The hooks of a Trainer's run as SVG: a row for each, indented by what it is called in."""

from viz.svg_parts import MARGIN, document, group, header, legend, number, rect, tag, text
from viz.theme import mono_width

_LINE = 23
_INDENT = 22
_WHO = 18
_ROLES = {"step": "nonleaf", "module": "leaf", "callback": "retained", "default": "op", "empty": "pale", "fold": "fold"}
_CSS = """
.box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.twig{stroke:var(--band-line);fill:none}
.pale>text{fill:var(--muted)}.part{font-weight:700;font-size:12px}.now>.box{stroke-width:3}
.band{fill:var(--band);stroke:none}
""".replace("\n", "")


def draw(trace):
    """The complete SVG."""
    page = _Page(trace)
    head, y = header(trace, page.width)
    tops = [y + 4 + _LINE * k for k in range(len(trace.nodes))]
    twigs = "".join(page.twigs(tops))
    rows = "".join(page.row(node, top) for node, top in zip(trace.nodes, tops, strict=True))
    key, y = legend(_legend(trace), y + 4 + _LINE * len(trace.nodes) + 12, page.width)
    return document(trace, head + twigs + rows + key, page.width, y + MARGIN - 6, _CSS)


class _Page:
    """Where names end and the column of their owners begins."""

    def __init__(self, trace):
        self.nodes = trace.nodes
        self.owners = max((self._end(node) for node in self.nodes), default=200) + _WHO
        who = max((mono_width(_owners(node), 11) for node in self.nodes), default=0)
        self.width = max(640, self.owners + who + MARGIN + 8)

    @staticmethod
    def _end(node):
        return _x(node) + mono_width(node["label"], 12) + 16

    def row(self, node, y):
        x = _x(node)
        if node["kind"] == "section":
            band = rect(x - 6, y + 1, self.width - x - 8, _LINE - 2, "band", 4)
            return group(band + text(x, y + 16, node["label"], "part"), data_id=node["id"])
        box = rect(x, y + 2, mono_width(node["label"], 11) + 14, _LINE - 4, "box", 5)
        name = group(
            box + text(x + 7, y + 16, node["label"]), data_id=node["id"], data_card="", class_=_ROLES[node["kind"]]
        )
        return name + text(self.owners, y + 16, _owners(node), "muted")

    def twigs(self, tops):
        """A line from each part, and each step, down to what is called in it."""
        open_ones = []
        for node, top in zip(self.nodes, tops, strict=True):
            open_ones = [one for one in open_ones if one[0]["depth"] < node["depth"]]
            if open_ones:
                outer, start = open_ones[-1]
                x = _x(outer) + 4
                path = f"M{number(x)},{number(start + _LINE - 2)}V{number(top + _LINE / 2)}h{_INDENT - 6}"
                yield tag("path", d=path, class_="twig")
            open_ones.append((node, top))


def _x(node):
    return MARGIN + 6 + node["depth"] * _INDENT


def _owners(node):
    return " → ".join(node["who"])


_WORDS = {
    "step": ("a step", "the work itself: forward, backward, update"),
    "module": ("module", "a hook that the module defines; on the right, whose code ran, in this order"),
    "callback": ("callback", "a hook that only callbacks define"),
    "default": ("default", "it has something to do, and the module has not replaced it"),
    "empty": ("empty", "a hook that nobody defines: nothing happens"),
    "fold": ("fold", "the same hooks again"),
}


def _legend(trace):
    used = {node["kind"] for node in trace.nodes}
    return [
        (group(rect(0, 1, 26, 13, "box", 4), class_=_ROLES[kind]), *_WORDS[kind]) for kind in _WORDS if kind in used
    ]
