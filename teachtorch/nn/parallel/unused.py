"""Which parameters a backward pass from some outputs will reach."""

from ...tensor import Tensor


def tensors_in(value):
    """The tensors in nested lists, tuples, dictionaries and dataclasses."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from tensors_in(getattr(value, name))


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
