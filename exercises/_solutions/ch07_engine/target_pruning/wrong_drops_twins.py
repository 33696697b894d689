"""Answers a target that is asked for twice only once."""

FAILS = "test_twice"
SAYS = "as many as there are targets"


def grad(root, root_grad, targets, allow_unused=False):
    order = topological(root)
    needed = set()
    for node in reversed(order):
        if any(following in needed or following in targets for following in node.next_nodes):
            needed.add(node)
    buffers = {root: root_grad}
    for node in order:
        if node not in needed or node not in buffers:
            continue
        for following, part in zip(node.next_nodes, node.apply(buffers[node])):
            buffers[following] = buffers.get(following, 0.0) + part
    captured = {target: buffers.get(target) for target in targets}
    if None in captured.values() and not allow_unused:
        raise RuntimeError(f"the target at position {list(captured.values()).index(None)} is not used")
    return list(captured.values())


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
