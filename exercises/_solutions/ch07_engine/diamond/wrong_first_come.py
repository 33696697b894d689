"""Runs ready nodes in the order in which they got ready."""

from collections import deque

FAILS = "test_order"
SAYS = "highest sequence_nr"


def count_dependencies(root):
    counts, stack = {root: 0}, [root]
    while stack:
        for following in stack.pop().next_nodes:
            if following not in counts:
                counts[following] = 0
                stack.append(following)
            counts[following] += 1
    return counts


def backward(root, grad):
    counts, buffers, ready = count_dependencies(root), {root: grad}, deque([root])
    while ready:
        node = ready.popleft()
        for following, part in zip(node.next_nodes, node.apply(buffers.pop(node))):
            buffers[following] = buffers.get(following, 0.0) + part
            counts[following] -= 1
            if counts[following] == 0:
                ready.append(following)
