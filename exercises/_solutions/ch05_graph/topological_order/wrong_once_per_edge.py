"""Puts a node into the order once for each edge."""

FAILS = "test_once"
SAYS = "but it is one node"


def topological_order(root):
    found = [root]
    for node in found:
        found += node.next_nodes
    return found


def gradients(root):
    arrived = {root: 1.0}
    for node in topological_order(root):
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] = arrived.get(following, 0.0) + arrived[node] * factor
    return arrived
