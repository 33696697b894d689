"""Who holds a storage, as DOT: holders point to tensors, tensors to the storage."""

from graphviz import Digraph

from viz.holders_svg import ROLES, SORTS
from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr(rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    storage = trace.groups[0]
    dot.node("m", f"storage\n{storage['size']}", fillcolor=fill("op"), color=line("op"))
    for node in trace.nodes:
        role = ROLES[node["role"]] if node["kind"] == "tensor" else SORTS.get(node["sort"], "fold")
        label = f"{node['label']}\n{node['what']}" if node["kind"] == "tensor" else node["label"]
        dot.node(node["id"], label, fillcolor=fill(role), color=line(role))
    for edge in trace.edges:
        dot.edge(edge["from"], edge["to"])
    return dot
