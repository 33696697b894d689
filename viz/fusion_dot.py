"""Fused kernels as DOT: a cluster per graph, a box per kernel or call, an edge per tensor between them."""

from graphviz import Digraph

from viz.tensors import human_bytes
from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for found in trace.groups:
        with dot.subgraph(name=f"cluster_{found['id']}") as cluster:
            cluster.attr(label=found["label"], fontname="Courier", fontsize="11")
            _graph(cluster, [node for node in trace.nodes if node["graph"] == found["name"]])
    return dot


def _graph(cluster, nodes):
    made = {t["name"]: node["id"] for node in nodes for t in node["writes"]}
    for node in nodes:
        role = "leaf" if node["kind"] == "kernel" else "fold"
        label = (
            node["operators"][0] if node["kind"] == "call" else "\n".join([node["label"], *_rows(node["operators"])])
        )
        cluster.node(node["id"], label, fillcolor=fill(role), color=line(role))
        for t in node["reads"]:
            source = made.get(t["name"])
            if source is None:
                source = f"{node['graph']} {t['name']}"
                cluster.node(source, t["label"], fillcolor=fill("nonleaf"), color=line("nonleaf"))
            if source != node["id"]:
                cluster.edge(source, node["id"], human_bytes(t["bytes"]))


def _rows(operators, width=5):
    return [" ".join(operators[k : k + width]) for k in range(0, len(operators), width)]
