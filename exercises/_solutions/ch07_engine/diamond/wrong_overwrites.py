"""Lets the last gradient overwrite those before it."""

import heapq

FAILS = "test_sums"
SAYS = "3 + 4"


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
    counts, buffers, ready, pushed = count_dependencies(root), {root: grad}, [(-root.sequence_nr, 0, root)], 0
    while ready:
        node = heapq.heappop(ready)[-1]
        for following, part in zip(node.next_nodes, node.apply(buffers.pop(node))):
            buffers[following] = part
            counts[following] -= 1
            if counts[following] == 0:
                pushed += 1
                heapq.heappush(ready, (-following.sequence_nr, pushed, following))
