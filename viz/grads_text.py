"""A table of gradients as text."""

from viz.grads_trace import OUTCOMES
from viz.tensors import human_bytes
from viz.wrap import columns, padded

_BAR = 12


def body(trace):
    """Lines of the picture: name, shape, kind, bytes as a bar, outcome, and what .grad holds."""
    rows = [_cells(node, trace.options["largest"]) for node in trace.nodes]
    widths = [max((columns(row[k]) for row in rows), default=0) for k in range(5)]
    lines = ["  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=False)) for row in rows]
    return [f"{line}  {row[5]}".rstrip() for line, row in zip(lines, rows, strict=True)]


def _cells(node, largest):
    share = round(_BAR * node["bytes"] / largest) if largest else 0
    mark = "░" if node["kind"] == "non-leaf" else "█"
    bar = (mark * max(share, 1 if node["bytes"] else 0)).ljust(_BAR)
    held = "" if node["grad"] is None else node["grad"]["text"]
    if node["kind"] in ("leaf", "retained") and not held:
        held = "None"
    size = human_bytes(node["bytes"])
    return [node["label"], node["what"], node["kind"], f"{bar} {size}", OUTCOMES[node["kind"]], held]
