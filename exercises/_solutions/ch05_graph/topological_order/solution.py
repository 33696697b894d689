r"""Why a topological sort? Each node once, after all nodes that lead to it.

    b = a + a                            d
    c = b + b                          /   \
    d = b + c                         |     c
                                      |   //
                                       b
                                      //
                                      a

d = 6a, so the gradient of a is 6. Who walks from d downwards and hands each gradient on at once visits b
three times; who visits b only once, but too early, hands on a gradient that is not complete. Both go away
when the nodes are put in order first: every node comes before all nodes that its edges lead to.

A node has .name, .next_nodes (a list; the same node may be in it twice, as for a + a) and .factors, one
number for each next node: the gradient that goes there is the node's own times the factor.
"""


def topological_order(root):
    """Return a list of all nodes that can be reached from `root`, each before all of its next nodes.

    root: a node; it comes first. The graph may be a chain of many thousand nodes, so do not recurse.
    """
    # solution
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
    # end of solution


def gradients(root):
    """Return a dict, node -> gradient, of all nodes that `root` leads to; its own gradient is 1.0."""
    # solution
    arrived = {root: 1.0}
    for node in topological_order(root):
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] = arrived.get(following, 0.0) + arrived[node] * factor
    return arrived
    # end of solution
