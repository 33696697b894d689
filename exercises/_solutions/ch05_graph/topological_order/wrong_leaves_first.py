"""Gives the order from the leaves up."""

FAILS = "test_chain"
SAYS = "each node before the one it leads to"


def topological_order(root):
    done, seen = [], {root}
    stack = [(root, iter(root.next_nodes))]
    while stack:
        node, following = stack[-1]
        new = next((each for each in following if each not in seen), None)
        if new is None:
            done.append(node)
            stack.pop()
        else:
            seen.add(new)
            stack.append((new, iter(new.next_nodes)))
    return done


def gradients(root):
    arrived = {root: 1.0}
    for node in reversed(topological_order(root)):
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] = arrived.get(following, 0.0) + arrived[node] * factor
    return arrived
