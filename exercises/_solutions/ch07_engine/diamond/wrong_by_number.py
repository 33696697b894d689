"""Takes whatever has the highest sequence_nr, ready or not."""

FAILS = "test_waits_for_all"
SAYS = "before the gradient"


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
    buffers, done = {root: grad}, set()
    while buffers:
        node = max(buffers, key=lambda each: each.sequence_nr)
        done.add(node)
        for following, part in zip(node.next_nodes, node.apply(buffers.pop(node))):
            if following not in done:
                buffers[following] = buffers.get(following, 0.0) + part
