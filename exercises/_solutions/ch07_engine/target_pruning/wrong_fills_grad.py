"""Runs the leaves too, so that .grad is filled."""

FAILS = "test_leaves_grad_alone"
SAYS = ".grad alone"


def grad(root, root_grad, targets, allow_unused=False):
    order = topological(root)
    buffers = {root: root_grad}
    for node in order:
        if not (True) or node not in buffers:
            continue
        for following, part in zip(node.next_nodes, node.apply(buffers[node])):
            buffers[following] = buffers.get(following, 0.0) + part
    for position, target in enumerate(targets):
        if target not in order and not allow_unused:
            raise RuntimeError(f"target {position} is not used")
    return [buffers.get(target) for target in targets]


def topological(root):
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
