"""Threads and elements as DOT: an edge from each thread to what it changed last."""

from graphviz import Digraph

from viz.theme import fill, line
from viz.threads_svg import role_of


def digraph(trace):
    """A ``graphviz.Digraph``: a cluster per block and per array."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for number, group in enumerate(g for g in trace.groups if g["kind"] == "block"):
        cluster(dot, group, [n for n in trace.nodes if n.get("block") == number and "number" in n], "thread ")
    for number, group in enumerate(g for g in trace.groups if g["kind"] in ("array", "shared")):
        cells = [n for n in trace.nodes if n.get("array") == number]
        cluster(dot, group, cells, "")
        for cell in cells:
            if cell["kind"] == "changed":
                dot.edge(f"b{cell['block']}t{cell['label']}", cell["id"])
    return dot


def cluster(dot, group, nodes, word):
    with dot.subgraph(name=f"cluster_{group['id']}") as inner:
        inner.attr(label=group["label"], fontname="Courier", fontsize="11")
        for node in nodes:
            role = role_of(node)
            inner.node(node["id"], word + node["label"], fillcolor=fill(role), color=line(role))
