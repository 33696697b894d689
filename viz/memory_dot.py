"""Segments as DOT: a cluster per segment that exists, its blocks in the order of their addresses."""

from itertools import pairwise

from graphviz import Digraph

from viz.memory_words import bytes_text
from viz.theme import fill, line

_ROLES = {"live": "leaf", "wait": "saved", "gap": "pale", "fold": "fold"}
_WORDS = {"live": "in use", "wait": "waiting", "gap": "free", "fold": "blocks"}


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="filled", fontname="Courier", fontsize="11")
    for row in (row for row in trace.groups if row["open"]):
        blocks = [node for node in trace.nodes if node["row"] == row["id"] and node["final"]]
        blocks.sort(key=lambda node: node["at"])
        with dot.subgraph(name=f"cluster_{row['id']}") as cluster:
            label = f"{bytes_text(row['size'])}, {row['pool']} pool, stream {row['stream']}"
            cluster.attr(label=label, fontname="Courier", fontsize="11")
            for node in blocks:
                role = _ROLES[node["kind"]]
                cluster.node(
                    node["id"],
                    f"{node['label']}\n{_WORDS[node['kind']]}",
                    fillcolor=fill(role),
                    color=line(role),
                )
            for before, after in pairwise(blocks):
                cluster.edge(before["id"], after["id"], arrowhead="none")
    return dot
