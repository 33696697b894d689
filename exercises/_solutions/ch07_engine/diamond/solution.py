r"""A backward engine in twenty lines: dependency counts.

A backward graph has *nodes*; a node's next_nodes are where its gradients go. In a diamond

            add                 out = d + e
           /   \
       mul_d   mul_e            d = a * 3, e = a * 4
           \   /
         AccumulateGrad a

the last node gets two gradients. It may only run when both have come, and then with their sum. So the
engine first walks the graph once and counts how many edges lead into each node. Each gradient that is
delivered takes one off; a node with none left is ready.

A node has .name, .sequence_nr (nodes made later have higher numbers; AccumulateGrad has the highest there
is), .next_nodes (a list; the same node may be in it twice, as for y + y) and .apply(grad), which returns
one gradient for each next node.
"""

import heapq


def count_dependencies(root):
    """Return a dict: for every node that can be reached from `root`, how many edges lead into it.

    root: a node; it has 0. Every edge counts, also two edges from one node to the same next node. The graph
    may be a chain of many thousand nodes, so do not recurse.
    """
    # solution
    counts, stack = {root: 0}, [root]
    while stack:
        for following in stack.pop().next_nodes:
            if following not in counts:
                counts[following] = 0
                stack.append(following)
            counts[following] += 1
    return counts
    # end of solution


def backward(root, grad):
    """Run the graph from `root`, each node once, with the sum of all gradients that lead into it.

    root: a node; grad: its gradient, a float. Returns nothing. Among the nodes that are ready, the one with
    the highest sequence_nr runs first; with the same number, any of them.
    """
    # solution
    counts = count_dependencies(root)
    buffers = {root: grad}
    ready = [(-root.sequence_nr, 0, root)]
    pushed = 0
    while ready:
        node = heapq.heappop(ready)[-1]
        for following, part in zip(node.next_nodes, node.apply(buffers.pop(node))):
            buffers[following] = buffers.get(following, 0.0) + part
            counts[following] -= 1
            if counts[following] == 0:
                pushed += 1
                heapq.heappush(ready, (-following.sequence_nr, pushed, following))
    # end of solution
