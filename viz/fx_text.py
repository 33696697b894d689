"""An fx graph as text: one line for each node, as in a diff."""

from viz.wrap import columns, padded

_SIGNS = {"same": " ", "added": "+", "vanished": "-", "changed": "~"}


def body(trace):
    """Lines of the picture."""
    width = max((columns(node["label"]) for node in trace.nodes), default=0)
    lines = []
    for node in trace.nodes:
        sign = _SIGNS[node["mark"]]
        if node["kind"] == "calls":
            lines.append(f"{sign} … {node['label']}: {', '.join(node['lines'])}")
            continue
        lines.append(f"{sign} {padded(node['label'], width)}  {_what(node)}".rstrip())
        lines += [f"      {node['note']}"] if node["note"] else []
    return lines


def _what(node):
    shape = f"   {node['shape']}" if node["shape"] else ""
    return (node["what"] or node["op"]) + shape
