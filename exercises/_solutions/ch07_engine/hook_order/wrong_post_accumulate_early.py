"""Calls post-accumulate hooks before .grad is filled."""

FAILS = "test_leaf_order"
SAYS = "find .grad set"


def run_node(node, grad):
    grad = through(node.tensor_hooks, grad)
    if node.retains_grad:
        node.retained_grad = grad
    grad = through(node.pre_hooks, grad)
    result = node.apply(grad)
    for hook in node.post_hooks:
        replaced = hook(result, grad)
        result = result if replaced is None else replaced
    return result


def run_leaf(leaf, grad):
    grad = through([*leaf.tensor_hooks, *leaf.pre_hooks], grad)
    for hook in leaf.post_accumulate_hooks:
        hook(leaf)
    leaf.grad = grad if leaf.grad is None else leaf.grad + grad
    for hook in leaf.post_hooks:
        hook(grad)


def through(hooks, grad):
    for hook in hooks:
        replaced = hook(grad)
        grad = grad if replaced is None else replaced
    return grad
