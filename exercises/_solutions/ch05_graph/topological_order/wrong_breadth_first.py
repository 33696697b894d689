"""Takes the nodes in the order in which they are found."""

FAILS = "test_after_all"
SAYS = "b must wait for c"


def topological_order(root):
    found = [root]
    seen = {root}
    for node in found:
        for each in node.next_nodes:
            if each not in seen:
                seen.add(each)
                found.append(each)
    return found


def gradients(root):
    arrived = {root: 1.0}
    for node in topological_order(root):
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] = arrived.get(following, 0.0) + arrived[node] * factor
    return arrived
