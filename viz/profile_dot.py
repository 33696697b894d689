"""A profile as DOT: who calls whom, with the time of each path."""

from graphviz import Digraph

from viz.profile_svg import _ROLES
from viz.theme import fill, line


def digraph(trace):
    """A ``graphviz.Digraph`` of the flame graph's frames; frames that are not shown are left out."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("graph", rankdir="LR")
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    callers = []
    for node in trace.nodes:
        if node["part"] != "frame":
            continue
        role = _ROLES[node["kind"]]
        time = f"{node['count']} x, {node['to'] - node['from']:.3f} ms"
        dot.node(node["id"], f"{node['label']}\n{time}", fillcolor=fill(role), color=line(role))
        callers[node["depth"] :] = [node["id"]]
        if node["depth"]:
            dot.edge(callers[-2], node["id"])
    return dot
