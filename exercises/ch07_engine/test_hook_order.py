"""Grades hook_order.py."""

from exercises.grading import beside, equal, points


class Node:
    """A node that doubles its gradient."""

    def __init__(self, log=None):
        self.log = log if log is not None else []
        self.tensor_hooks, self.pre_hooks, self.post_hooks = [], [], []
        self.retains_grad, self.retained_grad = False, None

    def __repr__(self):
        return "node"

    def apply(self, grad):
        self.log.append("apply")
        return 2 * grad


class Leaf:
    """A leaf without a gradient."""

    def __init__(self):
        self.grad = None
        self.tensor_hooks, self.pre_hooks, self.post_accumulate_hooks, self.post_hooks = [], [], [], []

    def __repr__(self):
        return "leaf"


def writes(log, text):
    """A hook that writes down that it ran."""
    return lambda *arguments: log.append(text)


def ordered(got, expected, why):
    """Compare two orders of events."""
    equal(got, expected, why, what="the order of events", picture=beside(got, expected))


@points(1, "the order at an intermediate node")
def test_node_order(yours):
    log = []
    node = Node(log)
    node.post_hooks = [writes(log, "post hook")]
    node.pre_hooks = [writes(log, "prehook")]
    node.tensor_hooks = [writes(log, "tensor hook 1"), writes(log, "tensor hook 2")]
    equal(
        yours.run_node(node, 3.0), 6.0, "the hooks change nothing; apply doubles", what="run_node(node, 3.0)"
    )
    expected = ["tensor hook 1", "tensor hook 2", "prehook", "apply", "post hook"]
    ordered(log, expected, "tensor hooks, prehooks, apply, posthooks")


@points(1, "retain_grad takes the value after the hooks")
def test_retains_after_hooks(yours):
    node = Node()
    node.retains_grad, node.tensor_hooks = True, [lambda grad: 10 * grad]
    node.pre_hooks = [lambda grad: 100 * grad]
    yours.run_node(node, 3.0)
    why = "a.grad is taken after the hooks of the tensor (times 10), before the node's prehooks (times 100)"
    equal(node.retained_grad, 30.0, why, what="a.grad, for a gradient of 3")
    node = Node()
    yours.run_node(node, 3.0)
    equal(
        node.retained_grad, None, "nobody called retain_grad", what="a.grad of a tensor that does not retain"
    )


@points(1, "what a hook returns replaces the gradient, for the next hook too")
def test_replacement(yours):
    node = Node()
    node.tensor_hooks = [lambda grad: grad + 1, lambda grad: None, lambda grad: grad * 10]
    why = "each replacement goes to the next hook, None leaves it: (3 + 1) * 10, then apply doubles"
    equal(yours.run_node(node, 3.0), 80.0, why, what="run_node(node, 3.0) with hooks +1, None, *10")
    node = Node()
    node.post_hooks = [lambda result, grad: result + grad]
    equal(yours.run_node(node, 3.0), 9.0, "a posthook replaces the result: 6 + 3", what="run_node(node, 3.0)")


@points(1, "a hook may replace the gradient by 0")
def test_zero_replaces(yours):
    node = Node()
    node.tensor_hooks = [lambda grad: 0.0]
    equal(
        yours.run_node(node, 3.0),
        0.0,
        "0.0 is a replacement; only None is none",
        what="a hook that returns 0.0",
    )


@points(2, "the order at a leaf: .grad is set when the post-accumulate hooks run")
def test_leaf_order(yours):
    log, leaf = [], Leaf()
    leaf.post_hooks = [writes(log, "posthook")]
    leaf.post_accumulate_hooks = [lambda leaf: log.append(f"post-accumulate: .grad is {leaf.grad}")]
    leaf.pre_hooks = [lambda grad: log.append(f"prehook: .grad is {leaf.grad}")]
    leaf.tensor_hooks = [writes(log, "tensor hook")]
    yours.run_leaf(leaf, 3.0)
    expected = ["tensor hook", "prehook: .grad is None", "post-accumulate: .grad is 3.0", "posthook"]
    ordered(log, expected, "post-accumulate hooks find .grad set: an optimizer step may live there")


@points(1, "replacements and accumulation at a leaf")
def test_leaf_accumulates(yours):
    leaf = Leaf()
    leaf.tensor_hooks, leaf.pre_hooks = [lambda grad: grad * 10], [lambda grad: grad + 1]
    leaf.post_accumulate_hooks = [lambda leaf: 12345.0]
    yours.run_leaf(leaf, 3.0)
    yours.run_leaf(leaf, 4.0)
    equal(
        leaf.grad,
        72.0,
        "(3*10 + 1) + (4*10 + 1)",
        what="leaf.grad after gradients 3 and 4, with hooks *10, +1",
    )


@points(1, "any hooks")
def test_any(yours, rng):
    node, expected = Node(), float(rng.randint(1, 9))
    begin = expected
    for _ in range(rng.randint(1, 5)):
        factor = float(rng.randint(1, 3))
        rng.choice([node.tensor_hooks, node.pre_hooks]).append(lambda grad, factor=factor: grad * factor)
        expected *= factor
    equal(
        yours.run_node(node, begin),
        2 * expected,
        "the product of all factors, doubled",
        what="hooks that multiply",
    )
