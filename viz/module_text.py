"""The tree of a module as text."""

_WIDTH = 108


def body(trace):
    """One line per row, indented by depth."""
    return [_line(node)[:_WIDTH] for node in trace.nodes]


def _line(node):
    start = "  " * node["depth"]
    if "what" in node:
        words = [f"{start}{MARKS[node['kind']]} {node['label']}", node["what"], node["size"], node["state"]]
        return "  ".join(word for word in words if word)
    if node["kind"] == "fold":
        return f"{start}… {node['label']}: {node['type']}" + (f"   {node['flow']}" if node["flow"] else "")
    words = [f"{start}{node['label']} ({node['type']})", node["mode"], *node["words"], node["flow"]]
    return "  ".join(word for word in words if word)


MARKS = {"parameter": "■", "frozen": "□", "buffer": "●", "unsaved": "○"}
