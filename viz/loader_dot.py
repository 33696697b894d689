"""A DataLoader's run as DOT: a cluster per lane, its bars in the order of time."""

from itertools import pairwise

from graphviz import Digraph

from viz.theme import fill, line

_ROLES = {"fetch": "nonleaf", "use": "leaf", "wait": "ended", "start": "fold", "ready": "saved"}


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for lane in trace.groups:
        bars = sorted((n for n in trace.nodes if n["lane"] == lane["id"]), key=lambda node: node["from"])
        with dot.subgraph(name=f"cluster_{lane['id']}") as cluster:
            cluster.attr(label=lane["label"] or "ready, kept", fontname="Courier", fontsize="11")
            for node in bars:
                cluster.node(node["id"], _label(node), **_look(node))
            for before, after in pairwise(bars):
                cluster.edge(before["id"], after["id"], style="invis")
    for edge in trace.edges:
        dot.edge(edge["from"], edge["to"], color=line("ended"), constraint="false")
    return dot


def _label(node):
    return f"{node['kind']} {node['label']}\n{node['from']} to {node['to']} ms"


def _look(node):
    role = _ROLES[node["kind"]]
    return {"fillcolor": fill(role), "color": line(role)}
