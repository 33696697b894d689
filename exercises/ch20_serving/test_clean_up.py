"""Grades clean_up.py."""

import teachtorch as torch

from exercises.grading import array_of, equal, points


def graph_of(function):
    return torch.fx.symbolic_trace(function)


def names(module):
    return [str(node) for node in module.graph.nodes]


@points(1, "dead calls go, one after the other")
def test_dead(yours):
    def function(x, unused):
        x.exp().sin()
        return x + 1
    module = graph_of(function)
    equal(yours.remove_dead(module.graph), 2, "sin is dead; exp is dead too, since only the dead one used it")
    equal(names(module), ["x", "unused", "add", "output"], "inputs stay: the caller passes them")


@points(2, "calls that change memory are not dead")
def test_in_place(yours):
    def function(x):
        x.add_(1)
        return x * 2
    module = graph_of(function)
    equal(yours.remove_dead(module.graph), 0, "nobody uses add_'s value, but it changes x")


@points(1, "equal calls are merged")
def test_merge(yours):
    module = graph_of(lambda x, y: (x + y) * (x + y) + torch.relu(x + y))
    equal(yours.merge_common(module.graph), 2, "x + y was computed three times")
    equal(names(module), ["x", "y", "add", "mul", "relu", "add_3", "output"], "what was merged is computed no more",
          what="the nodes that are left")
    module.recompile()
    equal(array_of(module(torch.tensor([1.0]), torch.tensor([2.0]))).tolist(), [12.0], "3 * 3 + 3")
    module = graph_of(lambda x: (x.sum(dim=0) - x.sum(dim=1)) + (x * 2 - x * 3))
    equal(yours.merge_common(module.graph), 0, "dim=0 and dim=1, 2 and 3: arguments count, those with a name as well")


@points(1, "a merged argument makes its users equal")
def test_chain(yours):
    module = graph_of(lambda x: torch.exp(x + 1) - torch.exp(x + 1))
    equal(yours.merge_common(module.graph), 2, "first the sums, then the exponentials of what is now one sum")


@points(2, "random draws are two")
def test_random(yours):
    module = graph_of(lambda x: torch.rand_like(x) - torch.rand_like(x))
    equal(yours.merge_common(module.graph), 0, "they look alike, but two draws are two numbers")


@points(2, "memory that changes in between")
def test_change_between(yours):
    def function(x):
        first = x + 1
        x.mul_(3)
        return first - (x + 1)
    module = graph_of(function)
    equal(yours.merge_common(module.graph), 0, "x + 1 is one value before and after x.mul_(3) another")

    def twice(x):
        first = x + 1
        x.mul_(3)
        return first - (x + 1) * (x + 1)
    module = graph_of(twice)
    equal(yours.merge_common(module.graph), 1, "the two sums after x.mul_(3) have no change between them")


@points(2, "values that are changed later")
def test_changed_later(yours):
    def function(x):
        first, second = x + 1, x + 1
        first.mul_(2)
        return first - second
    module = graph_of(function)
    equal(yours.merge_common(module.graph), 0, "first is changed in place: each of the two needs memory of its own")
    changed = [str(node) for node in yours.changed_somewhere(module.graph)]
    equal(changed, ["add"], "the first argument of mul_", what="changed_somewhere")

    def three(x):
        first, second, third = x + 1, x + 1, x + 1
        first.mul_(2)
        return first - second * third
    module = graph_of(three)
    equal(yours.merge_common(module.graph), 1, "second and third are not changed: they are one")
    module.recompile()
    equal(array_of(module(torch.tensor([1.0]))).tolist(), [0.0], "2 * 2 - 2 * 2")


@points(1, "1 and 1.0")
def test_types(yours):
    module = graph_of(lambda x: (x + 1) / (x + 1.0))
    equal(yours.merge_common(module.graph), 0, "an integer and a float: the results may have different dtypes")
