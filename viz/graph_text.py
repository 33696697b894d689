"""A graph trace as text: a tree from the roots, where a line continues straight down its last branch."""

from viz.saved import folded_text, saved_text


def body(trace):
    """Lines of the picture. A node reached a second time is only referred to."""
    tree = _Tree(trace)
    for node in trace.nodes:
        if node["kind"] in ("root", "ended"):
            tree.draw(node["id"])
    for node in trace.nodes:
        if node["id"] not in tree.drawn:
            tree.draw(node["id"])
    return tree.lines + (_key(trace) if trace.edges else []) + _frames(trace, tree.nodes)


def _frames(trace, nodes):
    """Which nodes stand in the frame of which module."""
    lines = ["", "Modules"] if trace.groups else []
    for frame in trace.groups:
        cards = ", ".join(_head(nodes[card]).split("  ")[0] for card in frame["cards"])
        lines.append(f"  {frame['label']}: {cards}" if cards else f"  {frame['label']}")
    return lines


def _key(trace):
    meaning = {
        "backward": "gradient k of the line above goes to input m of this node",
        "forward": "input k of the operation above is output m of this one",
        "both": "k is forward input and gradient of the line above, m is output and gradient input here",
    }
    direction = trace.options["direction"]
    return ["", f"Key: k─{_SIGNS[direction]}m  {meaning[direction]}; #n  order of creation, from 0"]


_SIGNS = {"backward": "▶", "forward": "◀", "both": "◆"}


class _Tree:
    def __init__(self, trace):
        self.nodes = {node["id"]: node for node in trace.nodes}
        self.outs = {}
        for edge in trace.edges:
            self.outs.setdefault(edge["from"], []).append(edge)
        self.direction = trace.options["direction"]
        self.drawn, self.lines = set(), []

    def draw(self, start):
        """Depth first with an explicit stack of (node, indent, edge that led here, connector)."""
        if self.lines:
            self.lines.append("")
        stack = [(start, "", None, "")]
        while stack:
            node, indent, edge, connector = stack.pop()
            stack += reversed(self._one(node, indent, edge, connector))

    def _one(self, node, indent, edge, connector):
        """Draw one node and return its children for the stack, first child first."""
        again = node in self.drawn
        if again and edge and not connector:
            connector = "└─"
        head = _head(self.nodes[node]) + ("  (drawn above)" if again else "")
        self.lines.append(indent + connector + self._arrow(edge) + head)
        if again:
            return []
        self.drawn.add(node)
        inner = indent + {"": "", "├─": "│ ", "└─": "  "}[connector]
        children = self._children(node)
        bar = "│   " if children else "    "
        self.lines += [inner + bar + text for text in _details(self.nodes[node])]
        return [(child["to"], inner, child, mark) for child, mark in children]

    def _children(self, node):
        """Edges with their connectors. An only or last branch that goes on stays at this indent."""
        edges = self.outs.get(node, [])
        marks = ["├─"] * len(edges)
        if edges:
            goes_on = self._goes_on(edges[-1]["to"])
            marks[-1] = "" if goes_on else "└─"
        return list(zip(edges, marks, strict=True))

    def _goes_on(self, node):
        return bool(self.outs.get(node)) and node not in self.drawn

    def _arrow(self, edge):
        if edge is None:
            return ""
        sign = _SIGNS[self.direction]
        slots = f"{_slot(edge['out'])}─{sign}{_slot(edge['in'])} "
        return slots if edge["times"] == 1 else f"{slots}(x{edge['times']}) "


def _slot(number):
    return "" if number is None else str(number)


def _head(node):
    if node["kind"] in ("root", "leaf"):
        return f"{node['label']}  {node['what']}  {node['word']}"
    if node["kind"] == "ended":
        return f"{node['label']}  {node['what']}  no graph"
    if node["kind"] == "fold":
        return f"[{node['label']}: {node['count']} nodes]"
    return f"{node['label']} #{node['created']}"


def _details(node):
    return _DETAILS[node["kind"]](node)


def _values(strip):
    more = f" +{strip['more']}" if strip["more"] else ""
    return "[" + " ".join(cell["text"] for cell in strip["cells"]) + more + "]"


def _grad(node, name=""):
    return f"{name}.grad {'None' if node['grad'] is None else _values(node['grad'])}"


def _root(node):
    return [f"= {_values(node['value'])}", *([_grad(node)] if node["word"] == "retains grad" else [])]


def _leaf(node):
    also = [f"also {', '.join(node['others'])}"] if node["others"] else []
    return [*also, _grad(node)]


def _ended(node):
    return node["lines"]


def _fold(node):
    kinds = (
        [" → ".join(node["pattern"])] if node["pattern"] else [f"{c} x {n}" for n, c in node["kinds"].items()]
    )
    if folded_text(node):
        kinds.append(folded_text(node))
    return kinds


def _op(node):
    lines = [text for port in node["ins"] for text in _in_lines(port)]
    lines += [f"saved {saved_text(item)}" for item in node["saved"]]
    unneeded = [str(port["nr"]) for port in node["outs"] if port["to"] is None]
    if unneeded:
        lines.append(f"no gradient needed at slot {', '.join(unneeded)}")
    return lines


def _in_lines(port):
    if port["names"]:
        line = f"output {port['nr']} is {', '.join(port['names'])}  {port['what']}  {port['word']}"
        return [line, *([_grad(port, port["names"][0])] if port["word"] == "retains grad" else [])]
    return [] if port["used"] else [f"output {port['nr']} is unused: its gradient stays undefined"]


_DETAILS = {"root": _root, "leaf": _leaf, "ended": _ended, "fold": _fold, "op": _op}
