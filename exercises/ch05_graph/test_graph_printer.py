"""Grades graph_printer.py."""

import teachtorch as torch
from exercises.grading import Mismatch, beside, equal, points


class Node:
    """A node with PyTorch's surface. edges: (node or None, input_nr) pairs."""

    def __init__(self, name, edges=()):
        self._name, self.next_functions = name, tuple(edges)
        self.asked = 0

    def __repr__(self):
        return self._name

    def name(self):
        self.asked += 1
        if self.asked > 1000:
            raise Mismatch(f"{self} was asked for its name 1000 times: once for each way that leads to it")
        return self._name


def printed(yours, root, expected, why):
    """Compare the lines, side by side."""
    lines = yours.print_graph(root)
    known = type(lines) is list and all(type(line) is str for line in lines)
    equal(lines, expected, why, picture=beside(lines, expected) if known else "")


@points(1, "a chain")
def test_chain(yours):
    root = Node("ExpBackward0", [(Node("SinBackward0", [(Node("AccumulateGrad"), 0)]), 0)])
    expected = ["0 ExpBackward0", "  -> 1[0]", "1 SinBackward0", "  -> 2[0]", "2 AccumulateGrad"]
    printed(yours, root, expected, "each node, and under it where its edge leads")


@points(1, "a shared node is printed once")
def test_shared(yours):
    leaf = Node("AccumulateGrad")
    root = Node("AddBackward0", [(Node("MulBackward0", [(leaf, 0)]), 0), (leaf, 0)])
    expected = ["0 AddBackward0", "  -> 1[0]", "  -> 2[0]", "1 MulBackward0", "  -> 2[0]", "2 AccumulateGrad"]
    printed(yours, root, expected, "two edges lead to the same AccumulateGrad: one node with one number")
    root = Node("AddBackward0", [(leaf, 0), (leaf, 0)])
    printed(
        yours,
        root,
        ["0 AddBackward0", "  -> 1[0]", "  -> 1[0]", "1 AccumulateGrad"],
        "y + y: two edges, one node",
    )


@points(1, "an input without a gradient is an edge to nothing")
def test_none(yours):
    root = Node("MulBackward0", [(None, 0), (Node("AccumulateGrad"), 0)])
    expected = ["0 MulBackward0", "  -> none", "  -> 1[0]", "1 AccumulateGrad"]
    why = (
        "2 * x: the place of each edge says which forward input it belongs to, so the empty one is shown too"
    )
    printed(yours, root, expected, why)


@points(1, "the port an edge leads to")
def test_ports(yours):
    eigh = Node("LinalgEighBackward0", [(Node("AccumulateGrad"), 0)])
    expected = ["0 MmBackward0", "  -> 1[1]", "1 LinalgEighBackward0", "  -> 2[0]", "2 AccumulateGrad"]
    why = "the vectors are output 1 of eigh, so their gradient goes to input 1 of its node"
    printed(yours, Node("MmBackward0", [(eigh, 1)]), expected, why)


@points(1, "the nodes in the order in which they are found")
def test_order(yours):
    deep = Node("NegBackward0", [(Node("AccumulateGrad"), 0)])
    root = Node(
        "AddBackward0", [(Node("ExpBackward0", [(deep, 0)]), 0), (Node("SinBackward0", [(deep, 0)]), 0)]
    )
    names = [line for line in yours.print_graph(root) if not line.startswith(" ")]
    expected = ["0 AddBackward0", "1 ExpBackward0", "2 SinBackward0", "3 NegBackward0", "4 AccumulateGrad"]
    why = "the root, then both nodes that its edges lead to, then what theirs lead to"
    equal(names, expected, why, what="the lines of the nodes")


@points(1, "long chains and many diamonds")
def test_large(yours):
    node = Node("AccumulateGrad")
    for _ in range(40):
        node = Node(
            "AddBackward0", [(Node("ExpBackward0", [(node, 0)]), 0), (Node("SinBackward0", [(node, 0)]), 0)]
        )
    equal(
        len(yours.print_graph(node)),
        281,
        "121 nodes and 160 edges",
        what="the number of lines for 40 diamonds",
    )
    node = Node("AccumulateGrad")
    for _ in range(20_000):
        node = Node("AddBackward0", [(node, 0)])
    equal(
        len(yours.print_graph(node)),
        40_001,
        "20 001 nodes, 20 000 edges",
        what="the number of lines of a chain",
    )


@points(1, "a graph that autograd has made")
def test_real_graph(yours):
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = a * b + a * 2
    expected = ["0 AddBackward0", "  -> 1[0]", "  -> 2[0]", "1 MulBackward0", "  -> 3[0]", "  -> 4[0]"]
    leaf = (a * 2).grad_fn.next_functions[0][0].name()
    expected += ["2 MulBackward0", "  -> 3[0]", "  -> none", f"3 {leaf}", f"4 {leaf}"]
    printed(yours, y.grad_fn, expected, "the graph of a * b + a * 2")
