"""An alias map as DOT: a cluster per storage."""

from graphviz import Digraph

from viz.theme import fill, line

_ROLES = {"leaf": "leaf", "result": "nonleaf", "view": "retained", "plain": "fold"}


def digraph(trace):
    """A ``graphviz.Digraph``."""
    dot = Digraph("viz", comment=trace.title)
    dot.attr("node", shape="box", style="rounded,filled", fontname="Courier", fontsize="11")
    for storage in trace.groups:
        with dot.subgraph(name=f"cluster_{storage['id']}") as cluster:
            cluster.attr(label=f"storage, {storage['slots']} slots", fontname="Courier", fontsize="11")
            for node in trace.nodes:
                if node["storage"] == storage["id"]:
                    cluster.node(node["id"], _label(node), **_look(node))
    return dot


def _label(node):
    if node["kind"] == "tensor":
        return f"{node['label']}  v{node['version']}\n{node['what']}\nslots {node['first']} to {node['last']}"
    stale = f"\nstale: now v{node['now']}" if node["state"] == "stale" else ""
    return f"{node['label']} at v{node['at']}{stale}"


def _look(node):
    if node["kind"] == "chip":
        role = "ended" if node["state"] == "stale" else "saved"
    else:
        role = _ROLES[node["role"]]
    return {"fillcolor": fill(role), "color": line(role)}
