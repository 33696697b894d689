"""Hooks: who sees a gradient when, and who may change it.

When the gradient of an intermediate tensor `a` has been summed up, its node runs in this order:

    1  a.register_hook hooks, in the order of registration
    2  a.retain_grad(): the value of a.grad is taken now, whenever retain_grad was called
    3  node.register_prehook hooks
    4  apply
    5  node.register_hook (post) hooks

And for a leaf, whose node is AccumulateGrad:

    1  leaf.register_hook hooks
    2  the prehooks of AccumulateGrad
    3  .grad is filled, or added to
    4  leaf.register_post_accumulate_grad_hook hooks: they find .grad set
    5  the posthooks of AccumulateGrad
"""


def run_node(node, grad):
    """Run an intermediate node and return its result.

    node: has .tensor_hooks, .pre_hooks, .post_hooks (lists of functions), .apply(grad), .retains_grad
    (bool) and .retained_grad, to be set when retains_grad is true. A tensor hook and a prehook get the
    gradient and return a replacement, or None to leave it. A posthook gets (result, grad), the result of
    apply and what went into it, and returns a replacement for the result, or None. grad: a float, the
    summed gradient.
    """
    # solution
    grad = _through(node.tensor_hooks, grad)
    if node.retains_grad:
        node.retained_grad = grad
    grad = _through(node.pre_hooks, grad)
    result = node.apply(grad)
    for hook in node.post_hooks:
        replaced = hook(result, grad)
        result = result if replaced is None else replaced
    return result
    # end of solution


def run_leaf(leaf, grad):
    """Let a gradient arrive at a leaf. Returns nothing.

    leaf: has .grad (float or None) and .tensor_hooks, .pre_hooks, .post_accumulate_hooks, .post_hooks.
    Tensor hooks and prehooks as above. A post-accumulate hook gets the leaf; what it returns is ignored. A
    posthook gets the gradient that was accumulated; what it returns is ignored. grad: a float, the summed
    gradient.
    """
    # solution
    grad = _through([*leaf.tensor_hooks, *leaf.pre_hooks], grad)
    leaf.grad = grad if leaf.grad is None else leaf.grad + grad
    for hook in leaf.post_accumulate_hooks:
        hook(leaf)
    for hook in leaf.post_hooks:
        hook(grad)
    # end of solution


# solution
def _through(hooks, grad):
    for hook in hooks:
        replaced = hook(grad)
        grad = grad if replaced is None else replaced
    return grad


# end of solution
