"""Two graphs compared, as text."""

from viz.tensors import human_bytes

_SIGNS = {"same": " ", "added": "+", "vanished": "-"}
_BAR = 24


def body(trace):
    """Lines of the picture: bars of saved bytes, then one line per node, as in a diff."""
    sizes = trace.options["saved_bytes"]
    lines = [_bar(word, size, max(sizes)) for word, size in zip(("before", "after"), sizes, strict=True)]
    lines.append("")
    for node in trace.nodes:
        lines.append(f"{_SIGNS[node['mark']]} {node['label']}{_saved(node)}")
        lines += [f"      {note}" for note in node["notes"]]
    return lines


def _bar(word, size, largest):
    length = round(_BAR * size / largest) if largest else 0
    return f"saved {word:<7} {('█' * length).ljust(_BAR)} {human_bytes(size)}"


def _saved(node):
    old, new = node["saved"]
    if old == new:
        return f"  saves {human_bytes(new)}" if new else ""
    return f"  saves {human_bytes(old)} → {human_bytes(new)}"
