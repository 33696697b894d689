"""Has nothing in its heap to tell nodes with the same sequence_nr apart."""

import heapq

FAILS = "test_ties"
SAYS = "not supported between instances"


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
    counts, buffers, ready = count_dependencies(root), {root: grad}, [(-root.sequence_nr, root)]
    while ready:
        node = heapq.heappop(ready)[-1]
        for following, part in zip(node.next_nodes, node.apply(buffers.pop(node))):
            buffers[following] = buffers.get(following, 0.0) + part
            counts[following] -= 1
            if counts[following] == 0:
                heapq.heappush(ready, (-following.sequence_nr, following))
