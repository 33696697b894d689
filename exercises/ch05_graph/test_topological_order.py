"""Grades topological_order.py."""

from exercises.grading import Mismatch, equal, holds, points


class Node:
    """A node that leads to other nodes, with one factor for each."""

    def __init__(self, name, nexts=()):
        self.name = name
        self._next_nodes = [node for node, _ in nexts]
        self._asked = 0
        self.factors = [float(factor) for _, factor in nexts]

    def __repr__(self):
        return self.name

    @property
    def next_nodes(self):
        self._asked += 1
        if self._asked > 1000:
            raise Mismatch(f"{self} was visited 1000 times: once for each way that leads to it")
        return self._next_nodes


def letters(swapped=False):
    """d = b + c, or d = c + b; c = b + b, b = a + a."""
    a = Node("a")
    b = Node("b", [(a, 1), (a, 1)])
    c = Node("c", [(b, 1), (b, 1)])
    nexts = [(c, 1), (b, 1)] if swapped else [(b, 1), (c, 1)]
    return Node("d", nexts), c, b, a


def names(nodes):
    """The names of a list of nodes; what is no such list is left as it is."""
    is_list = type(nodes) is list and all(type(node) is Node for node in nodes)
    return [node.name for node in nodes] if is_list else nodes


def ordered(order, why):
    """Demand that each node comes before its next nodes."""
    known = type(order) is list and all(type(node) is Node for node in order)
    holds(known, "a list of nodes", what="topological_order(root)", got=type(order).__name__)
    place = {node: number for number, node in enumerate(order)}
    for node in order:
        for following in node.next_nodes:
            before = place[node] < place.get(following, -1)
            got = " ".join(names(order)[:12])
            holds(before, why, what=f"whether {node} comes before {following}", got=got)


@points(1, "a chain, from the root on")
def test_chain(yours):
    root = Node("c", [(Node("b", [(Node("a"), 1)]), 1)])
    equal(names(yours.topological_order(root)), ["c", "b", "a"], "each node before the one it leads to")


@points(1, "each node once")
def test_once(yours):
    order = names(yours.topological_order(letters()[0]))
    got = sorted(order) if type(order) is list else order
    equal(
        got,
        ["a", "b", "c", "d"],
        "b is reached by three edges, but it is one node",
        what="the nodes in the order",
    )


@points(1, "a node comes after all that lead to it")
def test_after_all(yours):
    order = yours.topological_order(letters()[0])
    equal(names(order)[:1], ["d"], "the root comes first", what="the first node")
    ordered(order, "b must wait for c, although d leads to b at once")
    order = yours.topological_order(letters(swapped=True)[0])
    ordered(order, "d = c + b: b must wait for c, whichever edge comes first")


@points(1, "the gradient of d = b + c is 6")
def test_six(yours):
    root, c, b, a = letters()
    found = yours.gradients(root)
    got = {node.name: found.get(node) for node in (root, c, b, a)} if type(found) is dict else found
    expected = {"d": 1.0, "c": 1.0, "b": 3.0, "a": 6.0}
    equal(got, expected, "d = b + c = 3b = 6a: every edge brings a part, and the parts are added")


@points(1, "long chains and many diamonds")
def test_large(yours):
    leaf = node = Node("leaf")
    for number in range(40):
        left, right = Node(f"left{number}", [(node, 0.5)]), Node(f"right{number}", [(node, 0.5)])
        node = Node(f"add{number}", [(left, 1), (right, 1)])
    equal(
        yours.gradients(node)[leaf], 1.0, "a half along each of two ways, 40 times", what="after 40 diamonds"
    )
    node = Node("leaf")
    for number in range(20_000):
        node = Node(f"add{number}", [(node, 1)])
    equal(
        len(yours.topological_order(node)),
        20_001,
        "a chain of 20 000",
        what="how many nodes are in the order",
    )


@points(1, "any graph")
def test_any(yours, rng):
    for _ in range(20):
        nodes = [Node("n0")]
        for number in range(1, rng.randint(3, 12)):
            chosen = [rng.choice(nodes) for _ in range(rng.randint(1, 3))]
            nodes.append(Node(f"n{number}", [(node, rng.randint(-2, 2)) for node in chosen]))
        root = Node("root", [(node, 1) for node in rng.sample(nodes, len(nodes))])
        ordered(yours.topological_order(root), "every node before all of its next nodes")
        expected = by_hand(root, nodes)
        equal(yours.gradients(root)[nodes[0]], expected, "the sum over all paths", what="the gradient of n0")


def by_hand(root, nodes):
    """Sum over all paths: nodes made later come first."""
    arrived = {node: 0.0 for node in nodes}
    arrived[root] = 1.0
    for node in [root, *reversed(nodes)]:
        for following, factor in zip(node.next_nodes, node.factors):
            arrived[following] += arrived[node] * factor
    return arrived[nodes[0]]
