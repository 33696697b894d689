"""Counts the nodes that lead into a node, not the edges."""

FAILS = "test_counts"
SAYS = "every edge counts"


def count_dependencies(root):
    counts, stack = {root: 0}, [root]
    while stack:
        for following in set(stack.pop().next_nodes):
            if following not in counts:
                counts[following] = 0
                stack.append(following)
            counts[following] += 1
    return counts


def backward(root, grad):
    counts, buffers, ready = count_dependencies(root), {root: grad}, [root]
    while ready:
        node = max(ready, key=lambda each: each.sequence_nr)
        ready.remove(node)
        for following, part in zip(node.next_nodes, node.apply(buffers.pop(node))):
            buffers[following] = buffers.get(following, 0.0) + part
        for following in set(node.next_nodes):
            counts[following] -= 1
            if counts[following] == 0:
                ready.append(following)
