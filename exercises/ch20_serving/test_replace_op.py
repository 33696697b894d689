"""Grades replace_op.py."""

import teachtorch as torch

from exercises.grading import array_of, equal, points


def graph_of(function):
    return torch.fx.symbolic_trace(function)


def called(module):
    return [getattr(node.target, "__name__", node.target) for node in module.graph.nodes if node.op == "call_function"]


def twice(x):
    y = x * torch.sigmoid(x)
    return y * torch.sigmoid(y)


@points(1, "two places, one after the other")
def test_two(yours):
    module = graph_of(twice)
    equal(yours.replace(module), 2, "two products with a sigmoid of their own")
    equal(called(module), ["swish", "swish"], "nothing of the two steps is left")


@points(2, "the module runs the new graph")
def test_runs(yours):
    module = graph_of(twice)
    yours.replace(module)
    equal("sigmoid" in module.code, False, "changing the graph does not change what runs until the code is written anew")
    x = torch.tensor([-1.0, 2.0])
    equal(bool(torch.allclose(module(x), twice(x))), True, "the same values")


@points(1, "either order of the product")
def test_both_orders(yours):
    module = graph_of(lambda x: torch.sigmoid(x) * x)
    equal(yours.replace(module), 1, "a product has either order")


@points(2, "a sigmoid that is used elsewhere stays")
def test_used_elsewhere(yours):
    def function(x):
        gate = torch.sigmoid(x)
        return x * gate + gate
    module = graph_of(function)
    equal(yours.replace(module), 0, "the sum needs the gate, which has to be computed anyway: nothing is saved")
    x = torch.tensor([1.0])
    equal(array_of(module(x)).tolist(), array_of(function(x)).tolist(), "the same values")


@points(1, "other products stay")
def test_other_products(yours):
    module = graph_of(lambda x, y: x * torch.sigmoid(y))
    equal(yours.replace(module), 0, "the sigmoid is of another value")
    module = graph_of(lambda x: x * 2 + x * torch.tanh(x))
    equal(yours.replace(module), 0, "no sigmoid at all")


@points(2, "a call put behind another")
def test_append(yours):
    def function(x):
        return x + 1
    module = graph_of(function)
    yours.append(module, torch.neg)
    node = [n for n in module.graph.nodes if getattr(n.target, "__name__", "") == "neg"]
    equal([str(a) for n in node for a in n.args], ["add"],
          "the new node reads the old one; replace_all_uses_with gave it itself to read")
    equal(array_of(module(torch.tensor([1.0]))).tolist(), [-2.0], "-(1 + 1)")

    def used_twice(x):
        y = x + 1
        y * 3
        return y
    module = graph_of(used_twice)
    yours.append(module, torch.neg)
    reads = {str(node): [str(a) for a in node.all_input_nodes] for node in module.graph.nodes}
    why = "everyone who used the old node gets the new one's value"
    equal([reads["mul"], reads["output"]], [["neg"], ["neg"]], why, what="what the product and the output read")
