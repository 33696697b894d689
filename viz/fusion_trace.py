"""What compiling a function fused: kernels, the operators in each, the tensors they read and write, bytes moved."""

import re

from viz.picture import Picture
from viz.tensors import human_bytes
from viz.trace import Trace

MOST_UNITS = 14
_WAYS = ("before", "after")


def fusion(compiled):
    """The fused kernels of a compiled function: which operators each computes, and the bytes that saves.

    compiled: what ``torch.compile`` returned, called at least once; or what ``torch.compiler.explain(f)(*args)``
    returned.

    Bytes "before" are those that the same operators read and write if each runs by itself; "after" those of the kernel.
    """
    found = _explanation(compiled)
    if found.reason is not None:
        return Picture(Trace("fusion", f"{found.name}: no graph", notes=[f"It runs as it is: {found.reason}"],
                             options={"largest": 1}))
    nodes, groups, steps, notes = [], [], [], []
    for graph in found.graphs:
        made = _units(graph)
        groups.append(_graph(graph, made))
        nodes += made
        steps += [_step(node) for node in made]
    notes.append(_summary(found))
    largest = max([node["before"] for node in nodes if node["kind"] == "kernel"], default=1)
    title = f"{found.name}: what was fused"
    return Picture(Trace("fusion", title, nodes, [], groups, steps, notes, {"largest": largest or 1}))


def _explanation(compiled):
    if hasattr(compiled, "graphs") and hasattr(compiled, "reason"):
        return compiled
    from teachtorch.compiler import explanation_of

    return explanation_of(compiled)


def _summary(found):
    kernels = sum(len(graph.groups) for graph in found.graphs)
    operators = sum(len(group.operators) for group in found.groups)
    before, after = (sum(getattr(graph, f"bytes_{way}") for graph in found.graphs) for way in _WAYS)
    return (f"{operators} operators became {kernels} kernel{'s' * (kernels != 1)}. One by one they would move "
            f"{human_bytes(before)}, the kernels move {human_bytes(after)}.")


def _graph(graph, made):
    total = len(graph.order)
    label = f"{graph.name}: {human_bytes(graph.bytes_before)} before, {human_bytes(graph.bytes_after)} after"
    if total > len(made):
        label += f"; showing {len(made)} of {total}"
    return {"id": f"graph {graph.name}", "kind": "graph", "label": label, "name": graph.name}


def _units(graph):
    return [_unit(unit, graph.name) for unit in graph.order[:MOST_UNITS]]


def _unit(unit, graph):
    """A node for a fused kernel or a call that stays."""
    node = {
        "id": f"{graph} {unit.name}", "graph": graph, "label": unit.name,
        "reads": [_tensor(facts) for facts in unit.reads], "writes": [_tensor(facts) for facts in unit.writes],
    }
    if hasattr(unit, "operators"):
        return {**node, "kind": "kernel", "operators": [_plain(name) for name in unit.operators],
                "before": unit.bytes_before, "after": unit.bytes_after}
    return {**node, "kind": "call", "operators": [unit.operator.removesuffix(".default")], "before": 0, "after": 0}


def _tensor(facts):
    name, shape, size = facts
    return {"name": name, "label": re.sub(r"^v\d+_", "", name), "shape": list(shape), "bytes": size}


def _plain(name):
    """``mul_3`` is the third mul of the graph."""
    return re.sub(r"_\d+$", "", name) or name


def _step(node):
    reads, writes = (_named(node[way]) for way in ("reads", "writes"))
    if node["kind"] == "call":
        message = f"{node['operators'][0]} stays a call of its own kernel: it reads {reads}."
    else:
        operators = ", ".join(node["operators"][:12]) + (" ..." if len(node["operators"]) > 12 else "")
        message = (f"{node['label']} computes {operators} in one pass: it reads {reads} and writes {writes}, "
                   f"{human_bytes(node['after'])} instead of {human_bytes(node['before'])}.")
    return {"ids": [node["id"]], "msg": message, "set": {}}


def _named(tensors):
    shown = [f"{t['label']} ({human_bytes(t['bytes'])})" for t in tensors[:4]]
    more = len(tensors) - len(shown)
    return ", ".join(shown + [f"{more} more"] * (more > 0)) or "nothing"
