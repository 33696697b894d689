"""Grades interpreter.py."""

import teachtorch as torch

from exercises.grading import array_of, equal, points


def graph_of(function):
    return torch.fx.symbolic_trace(function)


@points(1, "functions and methods run")
def test_runs(yours):
    out, shapes, _ = yours.run(graph_of(lambda x, y: torch.relu(x + y).sum(0)), torch.ones(2, 3), torch.ones(3))
    equal(array_of(out).tolist(), [4.0, 4.0, 4.0], "relu(1 + 1), summed over two rows")
    equal(shapes["relu"], (2, 3), "its shape")


@points(1, "keyword arguments arrive")
def test_keywords(yours):
    traced = graph_of(lambda x: torch.add(x, x, alpha=3).sum(dim=1, keepdim=True))
    out, _, _ = yours.run(traced, torch.ones(2, 2))
    equal(array_of(out).tolist(), [[8.0], [8.0]], "keyword arguments count: alpha=3, dim=1, keepdim=True")


@points(1, "nodes within lists are found")
def test_nested(yours):
    out, _, _ = yours.run(graph_of(lambda x: torch.cat([x, x * 2])), torch.ones(1))
    equal(array_of(out).tolist(), [1.0, 2.0], "the tensors of cat stand in a list")
    node = next(iter(graph_of(lambda x: x).graph.nodes))
    got = yours.values((node, [node, 2], {"a": (node, "x")}), {node: 5.0})
    equal(got, (5.0, [5.0, 2], {"a": (5.0, "x")}), "tuples, lists and dicts, one inside the other; the rest as it is",
          what='values((node, [node, 2], {"a": (node, "x")}), {node: 5.0})')


@points(1, "submodules and parameters")
def test_modules(yours):
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    out, shapes, _ = yours.run(graph_of(net), torch.ones(4, 2))
    equal(tuple(out.shape), (4, 3), "the module's own layers are called")
    equal(sorted(shapes.values()), [(4, 2), (4, 3), (4, 3)], "x, the linear layer, the ReLU")
    out, shapes, _ = yours.run(graph_of(Scaled()), torch.ones(2))
    equal(array_of(out).tolist(), [4.0, 5.0], "x * 3 + bias: get_attr reads a parameter, also one of a submodule")
    equal(shapes["inner_bias"], (2,), 'the shape of the node that reads "inner.bias"')


class Scaled(torch.nn.Module):
    """Reads a parameter of its own, and one of its part."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(3.0))
        self.inner = torch.nn.Linear(2, 2)
        with torch.no_grad():
            self.inner.bias.copy_(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        return x * self.scale + self.inner.bias


@points(2, "several results")
def test_several_results(yours):
    out, shapes, _ = yours.run(graph_of(lambda x: x.split(1)[0] + x.split(1)[1]), torch.ones(2, 3))
    equal(array_of(out).tolist(), [[2.0, 2.0, 2.0]], "row 0 + row 1")
    equal(shapes["split"], [(1, 3), (1, 3)], "split returns two tensors: a list of shapes")
    found = yours.shape_of((torch.ones(2), [torch.ones(1, 3), 5]))
    equal(found, [(2,), [(1, 3), None]], "a list of shapes, one inside the other; what is no tensor has none")


@points(2, "a value stays until its last user has run")
def test_used_again(yours):
    def function(x):
        a = x + 1
        return a * 2 + a
    try:
        out, _, _ = yours.run(graph_of(function), torch.ones(1))
    except KeyError as error:
        equal(f"KeyError: {error}", "[6.0]", "a is used again after its first user: let go after the last one")
    equal(array_of(out).tolist(), [6.0], "(1 + 1) * 2 + (1 + 1)")


@points(2, "and no longer")
def test_lets_go(yours):
    def function(x):
        for _ in range(6):
            x = x + 1
        return x
    _, _, most = yours.run(graph_of(function), torch.ones(1))
    equal(most, 2, "in a chain at most two values are held: what is read and what is made")
    _, _, most = yours.run(graph_of(lambda x, y: (x + 1) * (y + 2) + x), torch.ones(1), torch.ones(1))
    equal(most, 4, "x, y and two sums: x is used again at the end, y goes after y + 2")
