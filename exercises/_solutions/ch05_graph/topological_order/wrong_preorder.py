"""Lists each node as soon as it comes off the stack."""

FAILS = "test_after_all"
SAYS = "whichever edge comes first"


def topological_order(root):
    order, seen, stack = [], {root}, [root]
    while stack:
        node = stack.pop()
        order.append(node)
        for following in node.next_nodes:
            if following not in seen:
                seen.add(following)
                stack.append(following)
    return order


def gradients(root):
    arrived = {root: 1.0}
    for node in topological_order(root):
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] = arrived.get(following, 0.0) + arrived[node] * factor
    return arrived
