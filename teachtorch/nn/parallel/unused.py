"""Which parameters a backward pass from some outputs will reach."""

from ...dispatch.nested import tensors_in


def parameters_behind(outputs):
    """The ids of the leaves that the graphs of the outputs lead to."""
    found, seen, stack = set(), set(), []
    for tensor in tensors_in(outputs):
        if tensor.grad_fn is None:
            found.add(id(tensor))
        else:
            stack.append(tensor.grad_fn)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.add(id(node.variable))
        stack += [child for child, _ in node.next_functions if child is not None]
    return found
