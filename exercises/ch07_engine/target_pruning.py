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
    raise NotImplementedError
