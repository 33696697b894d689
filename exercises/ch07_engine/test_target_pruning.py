"""Grades target_pruning.py."""

from exercises.grading import equal, points, raises


class Node:
    """A node that multiplies by one factor for each next node; a leaf's node fills .grad."""

    def __init__(self, name, nexts=()):
        self.name = name
        self.next_nodes = [node for node, _ in nexts]
        self.factors = [factor for _, factor in nexts]
        self.runs = 0
        self.grad = None

    def __repr__(self):
        return self.name

    def apply(self, grad):
        self.runs += 1
        if not self.next_nodes:
            self.grad = grad
        return [grad * factor for factor in self.factors]


def two_leaves():
    """loss = f(a)*3 + g(b)*5, and f = a*7, g = b*11: the loss, f, g, a, b."""
    a, b = Node("a"), Node("b")
    f, g = Node("f", [(a, 7.0)]), Node("g", [(b, 11.0)])
    return Node("loss", [(f, 3.0), (g, 5.0)]), f, g, a, b


@points(1, "the gradient of a leaf, of an intermediate node, of the loss itself")
def test_captures(yours):
    loss, f, _, a, b = two_leaves()
    equal(yours.grad(loss, 1.0, [a, b]), [21.0, 55.0], "3*7 and 5*11, in the order of the targets")
    loss, f, *_ = two_leaves()
    equal(yours.grad(loss, 2.0, [f]), [6.0], "what arrives at f: 2*3")
    equal(yours.grad(loss, 2.0, [loss]), [2.0], "what arrives at the loss is its own gradient")


@points(1, "gradients of several paths are summed before they are captured")
def test_sums(yours):
    a = Node("a")
    f = Node("f", [(a, 7.0)])
    equal(
        yours.grad(Node("loss", [(a, 2.0), (f, 3.0)]), 1.0, [a]),
        [23.0],
        "a short edge and a longer way: 2 + 3*7",
    )


@points(1, "no .grad is filled")
def test_leaves_grad_alone(yours):
    loss, *_, a, b = two_leaves()
    yours.grad(loss, 1.0, [a])
    why = "autograd.grad returns gradients and leaves every .grad alone: AccumulateGrad does not run"
    equal([a.grad, b.grad], [None, None], why, what="[a.grad, b.grad] after grad(loss, 1.0, [a])")


@points(1, "nodes that lead to no target do not run")
def test_prunes(yours):
    loss, f, g, a, b = two_leaves()
    yours.grad(loss, 1.0, [a])
    runs = {node.name: node.runs for node in (loss, f, g)}
    why = "g and b lead to no target: running them would be wasted work"
    equal(runs, {"loss": 1, "f": 1, "g": 0}, why, what="how often each node ran for grad(loss, 1.0, [a])")


@points(1, "one target on the way to another")
def test_target_on_the_way(yours):
    loss, f, _, a, _ = two_leaves()
    why = "f lies on the way to a: it is captured, and it runs because a needs it"
    equal(yours.grad(loss, 1.0, [f, a]), [3.0, 21.0], why)
    equal(yours.grad(loss, 1.0, [a, f]), [21.0, 3.0], "the order of the targets does not matter")


@points(1, "a target that is not used: an error, or None")
def test_unused(yours):
    loss, *_, a, _ = two_leaves()
    other = Node("other")
    equal(
        yours.grad(loss, 1.0, [a, other], allow_unused=True),
        [21.0, None],
        "the loss does not use it: None, not 0",
    )
    raises(RuntimeError, yours.grad, loss, 1.0, [a, other], why="position 1 is not used", text="1")


@points(1, "a target that is asked for twice is answered twice")
def test_twice(yours):
    loss, *_, a, b = two_leaves()
    why = "one gradient for each target, as many as there are targets"
    equal(yours.grad(loss, 1.0, [a, b, a]), [21.0, 55.0, 21.0], why)


@points(1, "any graph")
def test_any(yours, rng):
    for _ in range(10):
        nodes = [Node("leaf0"), Node("leaf1")]
        for number in range(rng.randint(3, 10)):
            chosen = [rng.choice(nodes) for _ in range(2)]
            nodes.append(Node(f"n{number}", [(node, float(rng.randint(1, 3))) for node in chosen]))
        root = Node("loss", [(node, 1.0) for node in nodes])
        targets = rng.sample(nodes, 3)
        expected = by_hand(root, nodes)
        equal(yours.grad(root, 1.0, targets), [expected[node] for node in targets], "the sum over all paths")


def by_hand(root, nodes):
    """What arrives at each node: nodes made later come first."""
    arriving = {node: 0.0 for node in nodes}
    arriving[root] = 1.0
    for node in [root, *reversed(nodes)]:
        for following, factor in zip(node.next_nodes, node.factors):
            arriving[following] += arriving[node] * factor
    return arriving
