"""Calls itself for each next node."""

FAILS = "test_large"
SAYS = "too often"


def topological_order(root):
    done, seen = [], set()

    def visit(node):
        seen.add(node)
        for each in node.next_nodes:
            if each not in seen:
                visit(each)
        done.append(node)

    visit(root)
    return done[::-1]


def gradients(root):
    arrived = {root: 1.0}
    for node in topological_order(root):
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] = arrived.get(following, 0.0) + arrived[node] * factor
    return arrived
