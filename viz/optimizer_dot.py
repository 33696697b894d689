"""An optimizer as DOT: a cluster per group, and the launches of each implementation as a chain."""

from itertools import pairwise

from graphviz import Digraph

from viz.tensors import human_bytes
from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for found in trace.groups:
        with dot.subgraph(name=f"cluster_{found['id']}") as cluster:
            cluster.attr(label=_title(found), fontname="Courier", fontsize="11")
            (_parameters if found["kind"] == "group" else _launches)(cluster, found, trace)
    return dot


def _title(found):
    if found["kind"] == "group":
        return found["label"]
    return f"{found['label']}: {found['launches']} launches"


def _parameters(cluster, found, trace):
    for node in trace.nodes:
        if node.get("group") == found["id"]:
            sizes = [f"{name} {human_bytes(size)}" for name, size in node["sizes"].items()]
            label = "\n".join([node["label"], node["what"], *sizes])
            cluster.node(node["id"], label, fillcolor=fill("leaf"), color=line("leaf"))


def _launches(cluster, found, trace):
    cells = [node for node in trace.nodes if node["kind"] == "launch" and node["way"] == found["label"]]
    for cell in cells:
        cluster.node(cell["id"], cell["label"], fillcolor=fill("op"), color=line("op"))
    for before, after in pairwise(cells):
        cluster.edge(before["id"], after["id"])
