"""Buckets as DOT: a cluster for each, in the order in which they travel."""

from graphviz import Digraph

from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    before = None
    for bucket in (group for group in trace.groups if group["kind"] == "bucket"):
        mine = [n for n in trace.nodes if n["kind"] == "parameter" and f"b{n['bucket']}" == bucket["id"]]
        with dot.subgraph(name=f"cluster_{bucket['id']}") as cluster:
            cluster.attr(label=f"{bucket['label']}, {bucket['size']}", fontname="Courier", fontsize="11")
            for node in mine:
                cluster.node(
                    node["id"], f"{node['label']}\n{node['size']}", fillcolor=fill("leaf"), color=line("leaf")
                )
        if before and mine:
            dot.edge(before, mine[0]["id"], style="dashed")
        before = mine[0]["id"] if mine else before
    return dot
