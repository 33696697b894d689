"""Streams as DOT: a cluster per lane, its bars in the order of time, and the order between them."""

from itertools import pairwise

from graphviz import Digraph

from viz.theme import fill, line

_ROLES = {"launch": "fold", "kernel": "nonleaf", "copy": "saved", "wait": "ended"}
_LINES = {"launch": "fold", "order": "leaf", "return": "retained", "race": "ended"}


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for lane in trace.groups:
        bars = sorted((n for n in trace.nodes if n["lane"] == lane["id"]), key=lambda node: node["from"])
        with dot.subgraph(name=f"cluster_{lane['id']}") as cluster:
            cluster.attr(label=lane["label"], fontname="Courier", fontsize="11")
            for node in bars:
                role = _ROLES[node["kind"]]
                cluster.node(node["id"], _label(node), fillcolor=fill(role), color=line(role))
            for before, after in pairwise(bars):
                cluster.edge(before["id"], after["id"], style="invis")
    for edge in trace.edges:
        _edge(dot, edge)
    return dot


def _label(node):
    return f"{node['label']}\n{node['from']} to {node['to']} ms"


def _edge(dot, edge):
    is_race = edge["kind"] == "race"
    dot.edge(
        edge["from"],
        edge["to"],
        color=line(_LINES[edge["kind"]]),
        constraint="false",
        dir="none" if is_race else "forward",
        label=edge["label"] if is_race else "",
    )
