"""Grades diamond.py."""

from exercises.grading import Mismatch, beside, equal, points

ACCUMULATE = 2**64 - 1


class Node:
    """A node that multiplies by one factor for each next node, and writes down when it runs."""

    def __init__(self, name, sequence_nr, nexts=(), log=None):
        self.name, self.sequence_nr = name, sequence_nr
        self.next_nodes = [node for node, _ in nexts]
        self.factors = [factor for _, factor in nexts]
        self.log = log if log is not None else []
        self.seen = []

    def __repr__(self):
        return self.name

    def apply(self, grad):
        self.seen.append(grad)
        self.log.append(self.name)
        if len(self.seen) > 1:
            why = f"{self.name} ran a second time: once for each path instead of once"
            raise Mismatch(f"the order in which the nodes ran: {' '.join(self.log[-8:])}\nwhy: {why}")
        return [grad * factor for factor in self.factors]


def diamond():
    """out = a*3 + a*4: the nodes from the root down, and their log."""
    log = []
    leaf = Node("acc_a", ACCUMULATE, log=log)
    mul_d, mul_e = Node("mul_d", 0, [(leaf, 3.0)], log), Node("mul_e", 1, [(leaf, 4.0)], log)
    return Node("add", 2, [(mul_d, 1.0), (mul_e, 1.0)], log), mul_d, mul_e, leaf


def ordered(got, expected, why, what):
    """Compare the order in which nodes ran."""
    equal(got, expected, why, what=what, picture=beside(got, expected))


@points(1, "how many edges lead into each node")
def test_counts(yours):
    root, mul_d, mul_e, leaf = diamond()
    equal(
        by_name(yours.count_dependencies(root)),
        {"add": 0, "mul_d": 1, "mul_e": 1, "acc_a": 2},
        "two paths meet in a",
    )
    leaf = Node("acc_y", ACCUMULATE)
    root = Node("add", 0, [(leaf, 1.0), (leaf, 1.0)])
    equal(
        by_name(yours.count_dependencies(root)),
        {"add": 0, "acc_y": 2},
        "y + y: every edge counts, both of them",
    )


@points(1, "each node runs once")
def test_runs_once(yours):
    root, *others = diamond()
    yours.backward(root, 1.0)
    for node in (root, *others):
        equal(
            len(node.seen),
            1,
            "each node runs once, with everything that came",
            what=f"how often {node.name} ran",
        )


@points(1, "a node waits for all its gradients")
def test_waits_for_all(yours):
    log = []
    leaf = Node("acc_a", ACCUMULATE, log=log)
    inner = Node("exp", 0, [(leaf, 2.0)], log)
    root = Node("mul", 1, [(leaf, 5.0), (inner, 1.0)], log)
    yours.backward(root, 1.0)
    why = "mul leads to acc_a at once and over exp: acc_a ran before the gradient from exp had come"
    ordered(log, ["mul", "exp", "acc_a"], why, "the order in which the nodes ran")


@points(1, "gradients that meet are added")
def test_sums(yours):
    root, *_, leaf = diamond()
    yours.backward(root, 1.0)
    equal(leaf.seen, [7.0], "out = a*3 + a*4, so the gradient is 3 + 4", what="what acc_a got")
    leaf = Node("acc_y", ACCUMULATE)
    yours.backward(Node("add", 0, [(leaf, 1.0), (leaf, 1.0)]), 1.0)
    equal(leaf.seen, [2.0], "y + y: both edges deliver a gradient, 1 + 1", what="what acc_y got")


@points(1, "among ready nodes the highest sequence_nr runs first")
def test_order(yours):
    log = []
    acc_a, acc_b = Node("acc_a", ACCUMULATE, log=log), Node("acc_b", ACCUMULATE, log=log)
    mul_d, mul_e = Node("mul_d", 0, [(acc_a, 4.0)], log), Node("mul_e", 1, [(acc_b, 5.0)], log)
    yours.backward(Node("add", 2, [(mul_d, 1.0), (mul_e, 1.0)], log), 1.0)
    why = "the highest sequence_nr runs first: mul_e is younger than mul_d, acc_* have 2**64-1"
    ordered(log, ["add", "mul_e", "acc_b", "mul_d", "acc_a"], why, "the order in which the nodes ran")


@points(1, "nodes with the same sequence_nr may be ready together")
def test_ties(yours):
    log = []
    acc_a, acc_b = Node("acc_a", ACCUMULATE, log=log), Node("acc_b", ACCUMULATE, log=log)
    yours.backward(Node("mul", 0, [(acc_a, 3.0), (acc_b, 4.0)], log), 1.0)
    why = "mul leads to two acc_* at once, both with 2**64-1: either may run first, and nodes have no order"
    equal([acc_a.seen, acc_b.seen], [[3.0], [4.0]], why, what="what acc_a and acc_b got")


@points(1, "long chains and many diamonds")
def test_large(yours):
    node = Node("acc", ACCUMULATE)
    for number in range(30):
        left = Node(f"left{number}", 3 * number, [(node, 0.5)])
        right = Node(f"right{number}", 3 * number + 1, [(node, 0.5)])
        node = Node(f"add{number}", 3 * number + 2, [(left, 1.0), (right, 1.0)])
    yours.backward(node, 1.0)
    node = leaf = Node("acc", ACCUMULATE)
    for number in range(20_000):
        node = Node(f"add{number}", number, [(node, 1.0)])
    yours.backward(node, 1.0)
    equal(leaf.seen, [1.0], "a chain of 20 000 additions", what="what the leaf at the end of the chain got")


@points(1, "any graph")
def test_any(yours, rng):
    for _ in range(10):
        leaf = Node("acc", ACCUMULATE)
        nodes = [leaf]
        for number in range(rng.randint(2, 12)):
            chosen = [rng.choice(nodes) for _ in range(rng.randint(1, 3))]
            nodes.append(Node(f"n{number}", number, [(node, float(rng.randint(-2, 2))) for node in chosen]))
        root = Node("root", 99, [(node, 1.0) for node in nodes])
        yours.backward(root, 1.0)
        equal(
            leaf.seen,
            [by_hand(root, nodes)],
            "the sum over all paths of the product of factors",
            what="what acc got",
        )


def by_hand(root, nodes):
    """Sum over all paths, from the root down: nodes made later come first."""
    arriving = {node: 0.0 for node in nodes}
    arriving[root] = 1.0
    for node in [root, *reversed(nodes)]:
        for following, factor in zip(node.next_nodes, node.factors):
            arriving[following] += arriving[node] * factor
    return arriving[nodes[0]]


def by_name(counts):
    """The counts with names for nodes; what is no dict is left as it is."""
    return {node.name: count for node, count in counts.items()} if type(counts) is dict else counts
