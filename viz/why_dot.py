"""The answer of ``viz.why`` as DOT: the chain from the loss to the tensor."""

from graphviz import Digraph

from viz.theme import fill, line

_ROLES = {"loss": "nonleaf", "op": "op", "more": "fold", "cut": "ended", "ghost": "pale", "subject": "ended"}
_STYLES = {"whole": "solid", "beyond": "dotted", "broken": "dashed"}


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for node in trace.nodes:
        role = _ROLES[node["kind"]]
        label = "\n".join(filter(None, (node["label"], node["what"], node["note"])))
        dot.node(node["id"], label, fillcolor=fill(role), color=line(role))
    for edge in trace.edges:
        colour = line("ended" if edge["state"] == "broken" else "op")
        dot.edge(edge["from"], edge["to"], edge["label"], style=_STYLES[edge["state"]], color=colour)
    return dot
