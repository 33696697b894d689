"""A grid of cells as DOT: a record for each row."""

from graphviz import Digraph

from viz.theme import fill, line


def digraph(trace, rows, roles):
    """A ``graphviz.Digraph``: a cluster per row, its cells in the order of the columns."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for number, row in enumerate(rows):
        with dot.subgraph(name=f"cluster_{row['id']}") as cluster:
            cluster.attr(label=row["label"], fontname="Courier", fontsize="11")
            for node in trace.nodes:
                if node["row"] == number:
                    role = roles[node["kind"]]
                    words = f"{node['about']}\n{node['label']}"
                    cluster.node(node["id"], words, fillcolor=fill(role), color=line(role))
    return dot
