"""Grades tracer.py."""

from exercises.grading import equal, points


def plain(nodes):
    return [(str(name), op, target, tuple(str(a) if isinstance(a, str) else a for a in arguments))
            for name, op, target, arguments in nodes]


def traced(yours, forward, **attributes):
    module = yours.Module(**attributes)
    return plain(yours.trace(forward, module).nodes)


@points(1, "what happens to x becomes nodes")
def test_calls(yours):
    found = traced(yours, lambda module, x: (x * 2 + 1).relu())
    equal(found, [("v0", "input", "x", ()), ("v1", "call", "mul", ("v0", 2)), ("v2", "call", "add", ("v1", 1)),
                  ("v3", "call", "relu", ("v2",)), ("v4", "output", "output", ("v3",))], "one node for each operator, in order")


@points(1, "2 * x")
def test_reflected(yours):
    equal(traced(yours, lambda module, x: 2 * x)[1], ("v1", "call", "mul", (2, "v0")), "the number stands on the left")


@points(2, "a tensor of the module is read from it")
def test_attribute(yours):
    weight = yours.Tensor(1, 2)
    graph = yours.trace(lambda module, x: x * module.weight, yours.Module(weight=weight))
    equal(plain(graph.nodes)[1:3], [("v1", "attribute", "weight", ()), ("v2", "call", "mul", ("v0", "v1"))],
          "a tensor of the module is an attribute: the traced program reads what it is when it runs")
    equal(len(graph.constants), 0, "nothing was frozen")


@points(2, "what no proxy takes part in is frozen, and that is reported")
def test_frozen(yours):
    weight = yours.Tensor(1, 2)
    graph = yours.trace(lambda module, x: x + module.weight * 3, yours.Module(weight=weight))
    equal(sorted(graph.constants), ["constant0"], "weight * 3 ran while tracing: report it in graph.constants")
    equal(graph.constants["constant0"].values, (3, 6), "its value is kept")
    equal(plain(graph.nodes)[1], ("v1", "attribute", "constant0", ()), "and read like an attribute")


@points(1, "an attribute is known by itself, not by its values")
def test_equal_values(yours):
    graph = yours.trace(lambda module, x: x + yours.Tensor(1, 2), yours.Module(weight=yours.Tensor(1, 2)))
    equal(sorted(graph.constants), ["constant0"], "another tensor that has the same values is not the attribute")


@points(2, "a branch on a traced value is refused")
def test_branch(yours):
    def forward(module, x):
        return x + 1 if x > 0 else x
    try:
        graph = yours.trace(forward, yours.Module())
    except yours.CannotTrace:
        return
    equal(plain(graph.nodes), "CannotTrace", "which way to go depends on a value that is not there: raise CannotTrace")


@points(1, "a branch on a number of the module is no problem")
def test_python_branch(yours):
    def forward(module, x):
        return x + 1 if module.flag else x
    equal(len(traced(yours, forward, flag=True)), 3, "module.flag is known; the branch is taken, and only it is noted")
