"""Grades routing.py."""

from exercises.grading import equal, points


class Node:
    """A node that remembers what it got. factors: one a next edge; None sends an undefined gradient."""

    def __init__(self, name, num_inputs=1, nexts=()):
        self.name, self.num_inputs = name, num_inputs
        self.next_edges = [edge for edge, _ in nexts]
        self.factors = [factor for _, factor in nexts]
        self.got = []

    def __repr__(self):
        return self.name

    def apply(self, grads):
        self.got.append(list(grads))
        total = sum(grad for grad in grads if grad is not None)
        return [None if factor is None else total * factor for factor in self.factors]


class Tensor:
    """A tensor, as far as edges go."""

    def __init__(self, requires_grad=True, grad_fn=None, output_nr=0, accumulator=None):
        self.requires_grad, self.grad_fn, self.output_nr = requires_grad, grad_fn, output_nr
        self.accumulator = accumulator

    def __repr__(self):
        return "tensor"


def named(edge):
    """The edge with the name of its node; what is no edge is left as it is."""
    is_edge = type(edge) is tuple and len(edge) == 2 and type(edge[0]) is Node
    return (edge[0].name, edge[1]) if is_edge else edge


@points(1, "the edge of a leaf, of a result, of a tensor without gradient")
def test_gradient_edge(yours):
    eigh, accumulator = Node("eigh", 2), Node("acc_x")
    edge = yours.gradient_edge(Tensor(accumulator=accumulator))
    equal(named(edge), ("acc_x", 0), "a leaf: its accumulator", what="gradient_edge(x) of a leaf")
    edge = yours.gradient_edge(Tensor(grad_fn=eigh, output_nr=1))
    why = "v is output 1 of eigh, so its gradient goes to input 1 of eigh's node"
    equal(named(edge), ("eigh", 1), why, what="gradient_edge(v), with e, v = eigh(x)")
    edge = yours.gradient_edge(Tensor(requires_grad=False, accumulator=accumulator))
    equal(edge, None, "no gradient is needed", what="gradient_edge(c), where c does not require grad")


@points(1, "output k goes to input k")
def test_second_output(yours):
    eigh = Node("eigh", 2)
    matmul = Node("matmul", 1, [(None, 1.0), ((eigh, 1), 5.0)])
    yours.backward((matmul, 0), 2.0)
    got = [grads[1] for grads in eigh.got]
    equal(
        got,
        [10.0],
        "the edge says (eigh, 1): the gradient goes to input 1",
        what="what input 1 of eigh's node got",
    )


@points(1, "an unused output stays undefined")
def test_unused_stays_undefined(yours):
    eigh = Node("eigh", 2)
    yours.backward((Node("matmul", 1, [((eigh, 1), 5.0)]), 0), 2.0)
    first = [grads[0] for grads in eigh.got]
    why = "nobody used e: its gradient is undefined, None, and not zeros of some shape"
    equal(first, [None], why, what="what input 0 of eigh's node got")
    yours.backward((eigh, 1), 3.0)
    equal(
        eigh.got[-1],
        [None, 3.0],
        "it begins at input 1; input 0 is undefined",
        what="backward((eigh, 1), 3.0)",
    )


@points(1, "an undefined gradient is delivered too")
def test_undefined_is_delivered(yours):
    leaf = Node("acc")
    left, right = Node("left", 1, [((leaf, 0), 3.0)]), Node("right", 1, [((leaf, 0), None)])
    yours.backward((Node("add", 1, [((left, 0), 1.0), ((right, 0), 1.0)]), 0), 1.0)
    why = "right sends an undefined gradient. If that is not counted, acc waits for ever"
    equal(leaf.got, [[3.0]], why, what="what acc got")
    leaf = Node("acc")
    yours.backward((Node("f", 1, [((leaf, 0), None)]), 0), 1.0)
    equal(
        leaf.got, [[None]], "a node runs even when nothing defined came", what="what acc got, behind f only"
    )


@points(1, "gradients for the same input are added")
def test_sums_in_a_slot(yours):
    split = Node("split", 3)
    uses = [("p", 2, 3.0), ("q", 2, 4.0), ("r", 0, 5.0)]
    parts = [Node(name, 1, [((split, slot), factor)]) for name, slot, factor in uses]
    yours.backward((Node("add", 1, [((part, 0), 1.0) for part in parts]), 0), 1.0)
    why = "p and q go to input 2 (3 + 4), r to input 0; input 1 is undefined"
    equal(split.got, [[5.0, None, 7.0]], why, what="what split's node got")


@points(1, "any number of outputs")
def test_any(yours, rng):
    for _ in range(10):
        count = rng.randint(2, 5)
        split, expected, parts = Node("split", count), [None] * count, []
        for number in range(rng.randint(1, 8)):
            slot, factor = rng.randrange(count), float(rng.randint(1, 9))
            parts.append(Node(f"use{number}", 1, [((split, slot), factor)]))
            expected[slot] = (expected[slot] or 0.0) + factor
        yours.backward((Node("add", 1, [((part, 0), 1.0) for part in parts]), 0), 1.0)
        equal(
            split.got,
            [expected],
            "the sum of the uses of each output; unused: None",
            what="what split's node got",
        )
