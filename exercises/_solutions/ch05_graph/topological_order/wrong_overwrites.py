"""Keeps the last gradient instead of the sum."""

FAILS = "test_six"
SAYS = "the parts are added"


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
    return done[::-1]


def gradients(root):
    arrived = {root: 1.0}
    for node in topological_order(root):
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] = arrived[node] * factor
    return arrived
