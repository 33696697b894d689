"""Which tensors a stale saved tensor may have belonged to: what the graph still tells about its past.

Graphs of earlier attempts, which a traceback keeps alive, hold stale tensors of storages long gone.
"""

from viz.tensors import storage_key

_VIEWS = set(
    "Alias AsStrided Detach Diagonal Expand Narrow Permute Real Select Slice Split SplitWithSizes Squeeze T "
    "Transpose Unbind Unfold UnsafeView Unsqueeze View ViewAsComplex ViewAsReal".split()
)


def same_past(chip, owners):
    """Whether what made the saved tensor of ``chip`` is in the recent past of ``owners``.

    owners: the living tensors over one storage that require a gradient. Without any, the saved tensor must
    be one that needed no gradient either.
    """
    if not owners:
        return any(after is None for after, _ in chip.node.next_functions)
    makers = _makers(chip.node)
    leaves = {storage_key(node.variable) for node in makers if hasattr(node, "variable")}
    if leaves & {storage_key(t) for t in owners}:
        return True
    past = _past([t.grad_fn for t in owners if t.grad_fn is not None], chip.now - chip.at)
    return any(id(node) in past for node in makers)


def _makers(node):
    """The nodes that may have made what ``node`` saved: itself, the ones before it, and views in between."""
    makers, waiting = [node], [node]
    while waiting:
        before = [after for after, _ in waiting.pop().next_functions if after is not None]
        makers += before
        waiting += filter(_is_view, before)
    return makers


def _past(nodes, writes):
    """{id: node} of ``nodes`` and of what came before them, that many in-place operations ago at most."""
    past, waiting = {}, [(node, writes) for node in nodes]
    while waiting:
        node, left = waiting.pop(0)
        if id(node) in past or left < 0:
            continue
        past[id(node)] = node
        left -= not _is_view(node)
        waiting += [(after, left) for after, _ in node.next_functions if after is not None]
    return past


def _is_view(node):
    """Whether the operation of ``node`` only looks at the same memory in another way."""
    return node.name().rsplit("::", 1)[-1].rstrip("0123456789").removesuffix("Backward") in _VIEWS
