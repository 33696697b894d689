"""Fused kernels as text."""

from viz.tensors import human_bytes
from viz.wrap import wrapped

_BAR = 40


def body(trace):
    """Lines of the picture: per graph, its kernels and calls in the order they run."""
    lines = []
    for found in trace.groups:
        lines += [*([""] if lines else []), found["label"]]
        for node in trace.nodes:
            if node["graph"] == found["name"]:
                lines += _unit(node, trace.options["largest"])
    return lines


def _unit(node, largest):
    if node["kind"] == "call":
        return [f"  · {node['operators'][0]}  (stays a call)"]
    words = wrapped(" → ".join(node["operators"]), 90)
    lines = [f"  ■ {node['label']}", *(f"      {line}" for line in words)]
    lines += [f"      {mark} {line}" for mark, way in (("←", "reads"), ("→", "writes")) for line in _tensors(node[way])]
    for way in ("before", "after"):
        bar = "█" * max(1, round(node[way] / largest * _BAR))
        lines.append(f"      {way:<6} {bar} {human_bytes(node[way])}")
    return lines


def _tensors(tensors):
    return wrapped(", ".join(f"{t['label']} {t['shape']} {human_bytes(t['bytes'])}" for t in tensors), 90)
