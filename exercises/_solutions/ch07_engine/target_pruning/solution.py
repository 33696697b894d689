"""autograd.grad: only what leads to a target runs.

torch.autograd.grad(loss, targets) returns gradients and leaves every .grad alone. The engine marks the
nodes that have a path to a target; the others do not run. The gradient of a target is *captured*: it is
what has been summed up for the target's node when that node would run.

- a target that is a leaf: its AccumulateGrad does not run, so no .grad is filled;
- a target on the way to another target: it is captured, and it runs too, because the other one needs it;
- a target that the loss does not depend on is an error, or None with allow_unused=True. Zeros would hide
  the mistake.

A node has .next_nodes and .apply(grad), which returns one gradient for each next node. A leaf's node has no
next nodes, and its apply would fill .grad.
"""


def grad(root, root_grad, targets, allow_unused=False):
    """Return the list of the targets' gradients, floats, in the order of `targets`.

    root: a node; root_grad: its gradient, a float. targets: a list of nodes. allow_unused: None for a
    target that cannot be reached from `root`; otherwise RuntimeError, with the target's position in the
    list in its text. A node runs once, when everything has been delivered that will be; nodes that lead to
    no target do not run.
    """
    # solution
    order = _topological(root)
    needed = _needed(order, targets)
    buffers = {root: root_grad}
    for node in order:
        if node in needed:
            for following, part in zip(node.next_nodes, node.apply(buffers[node])):
                buffers[following] = buffers.get(following, 0.0) + part
    for position, target in enumerate(targets):
        if target not in order and not allow_unused:
            raise RuntimeError(
                f"the target at position {position} is not used in the graph: allow_unused=True gives None"
            )
    return [buffers.get(target) for target in targets]
    # end of solution


# solution
def _topological(root):
    """All nodes that can be reached; a node comes after every node that leads to it."""
    counts, stack = {root: 0}, [root]
    while stack:
        for following in stack.pop().next_nodes:
            if following not in counts:
                counts[following] = 0
                stack.append(following)
            counts[following] += 1
    order, ready = {}, [root]
    while ready:
        node = ready.pop()
        order[node] = None
        for following in node.next_nodes:
            counts[following] -= 1
            if counts[following] == 0:
                ready.append(following)
    return order


def _needed(order, targets):
    """The nodes from which an edge leads to a target, or to another needed node: those have to run."""
    needed = set()
    for node in reversed(order):
        if any(following in needed or following in targets for following in node.next_nodes):
            needed.add(node)
    return needed


# end of solution
