"""Grades guarded_cache.py."""

import teachtorch as torch
from exercises.grading import equal, points


class Recorder:
    """A compiler that notes what it was asked for."""

    def __init__(self, yours, limit=8):
        self.asked = []
        self.plain = []
        self.cache = yours.GuardedCache(self.function, self.build, limit)

    def function(self, *args):
        self.plain.append(args)
        return "plain"

    def build(self, args, dynamic):
        self.asked.append(set(dynamic))
        number = len(self.asked)
        return lambda *given: (number, given)

    def call(self, *args):
        """The number of the graph that served the call; "plain" for the function itself."""
        found = self.cache(*args)
        return found if found == "plain" else found[0]


@points(1, "the same metadata: compiled once, whatever the values")
def test_values(yours):
    seen = Recorder(yours)
    got = [seen.call(torch.ones(3)), seen.call(torch.zeros(3)), seen.call(torch.tensor([5.0, 6.0, 7.0]))]
    equal(got, [1, 1, 1], "only values differ, so the first graph serves all three calls", what="the graphs that ran")


@points(1, "the graph gets the arguments of this call")
def test_arguments(yours):
    seen = Recorder(yours)
    seen.cache(torch.ones(2), 3)
    given = seen.cache(torch.zeros(2), 3)[1]
    equal([given[0].tolist(), given[1]], [[0.0, 0.0], 3], "the second call's tensor is zeros", what="what the graph got")


@points(1, "another dtype")
def test_dtype(yours):
    seen = Recorder(yours)
    got = [seen.call(torch.ones(3)), seen.call(torch.ones(3, dtype=torch.float64)), seen.call(torch.ones(3))]
    equal(got, [1, 2, 1], "another dtype needs another graph; the first one still serves float32", what="the graphs that ran")


@points(1, "requires_grad")
def test_requires_grad(yours):
    seen = Recorder(yours)
    got = [seen.call(torch.ones(3)), seen.call(torch.ones(3, requires_grad=True))]
    equal(got, [1, 2], "a graph for training also holds backward", what="the graphs that ran")


@points(1, "layout")
def test_layout(yours):
    seen = Recorder(yours)
    got = [seen.call(torch.ones(3, 3)), seen.call(torch.ones(3, 3).t())]
    equal(got, [1, 2], "the second tensor is not contiguous: its elements lie elsewhere", what="the graphs that ran")


@points(1, "numbers and texts by class and value")
def test_numbers(yours):
    seen = Recorder(yours)
    x = torch.ones(2)
    got = [seen.call(x, 1), seen.call(x, 2), seen.call(x, 1), seen.call(x, "a")]
    equal(got, [1, 2, 1, 3], "a number is part of the graph, by value", what="the graphs that ran")
    got = [seen.call(x, True), seen.call(x, 1.0)]
    equal(got, [4, 5], "True is no 1, nor is 1.0: x * 1.0 has another dtype than x * 1 may have", what="the graphs that ran")


@points(2, "a size that varies becomes dynamic")
def test_dynamic(yours, rng):
    seen = Recorder(yours)
    sizes = rng.sample(range(2, 50), 5)
    got = [seen.call(torch.ones(n, 4)) for n in sizes]
    equal(got, [1, 2, 2, 2, 2], f"dim 0 has the sizes {sizes}: from the second size on one graph serves all", what="the graphs that ran")
    equal(seen.asked, [set(), {(0, 0)}], "the first compilation is for exact sizes, the second leaves dim 0 of argument 0 open",
          what="the dynamic dims that build was given")
    seen = Recorder(yours)
    got = [seen.call(torch.ones(2, 3), torch.ones(n)) for n in (4, 5, 6)]
    equal(got, [1, 2, 2], "the second tensor varies, not the first", what="the graphs that ran")
    equal(seen.asked, [set(), {(1, 0)}], "dim 0 of argument 1", what="the dynamic dims that build was given")
    seen = Recorder(yours)
    seen.call(torch.ones(3)), seen.call(torch.ones(4, dtype=torch.float64))
    equal(seen.asked, [set(), set()], "the dtype differs, too: no entry differs from this call in sizes alone",
          what="the dynamic dims that build was given")


@points(1, "what did not vary stays guarded")
def test_other_dims(yours):
    seen = Recorder(yours)
    got = [seen.call(torch.ones(2, 4)), seen.call(torch.ones(3, 4)), seen.call(torch.ones(3, 5))]
    equal(got, [1, 2, 3], "dim 1 did not vary until the third call, so no graph was open there", what="the graphs that ran")


@points(1, "what was dynamic stays dynamic")
def test_two_dims(yours):
    seen = Recorder(yours)
    got = [seen.call(torch.ones(*shape)) for shape in ((2, 4), (3, 4), (3, 5), (9, 9))]
    equal(got, [1, 2, 3, 3], "dim 0 must stay dynamic when dim 1 becomes so", what="the graphs that ran")


@points(1, "the limit")
def test_limit(yours):
    seen = Recorder(yours, limit=3)
    x = torch.ones(2)
    got = [seen.call(x, n) for n in range(5)] + [seen.call(x, 1)]
    equal(got, [1, 2, 3, "plain", "plain", 2], "past the limit of 3 the function itself runs; what is compiled goes on serving",
          what="what ran")
