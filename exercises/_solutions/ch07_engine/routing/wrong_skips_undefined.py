"""Does not count an undefined gradient as delivered."""

FAILS = "test_undefined_is_delivered"
SAYS = "waits"


def gradient_edge(tensor):
    if not tensor.requires_grad:
        return None
    if tensor.grad_fn is None:
        return tensor.accumulator, 0
    return tensor.grad_fn, tensor.output_nr


def backward(edge, grad):
    root, slot = edge
    counts, stack = {root: 0}, [root]
    while stack:
        for edge in filter(None, stack.pop().next_edges):
            if edge[0] not in counts:
                counts[edge[0]] = 0
                stack.append(edge[0])
            counts[edge[0]] += 1
    buffers, ready = {root: [None] * root.num_inputs}, [root]
    buffers[root][slot] = grad
    while ready:
        node = ready.pop()
        for edge, part in zip(node.next_edges, node.apply(buffers.pop(node))):
            if edge is None or part is None:
                continue
            following, slot = edge[0], edge[1]
            buffer = buffers.setdefault(following, [None] * following.num_inputs)
            if part is not None:
                buffer[slot] = part if buffer[slot] is None else buffer[slot] + part
            counts[following] -= 1
            if counts[following] == 0:
                ready.append(following)
