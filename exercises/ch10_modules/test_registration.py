"""Grades registration.py."""

from exercises.grading import equal, points, raises


def layer(yours, *values):
    """A module with one parameter, `weight`."""

    class Layer(yours.Module):
        def __init__(self):
            super().__init__()
            self.weight = yours.Parameter(*values)

    return Layer()


def paths(module):
    """The paths that named_parameters gives."""
    return [path for path, _ in module.named_parameters()]


@points(1, "a parameter is found by its name")
def test_parameter(yours):
    m = layer(yours, 1, 2)
    equal(m.weight.values, [1, 2], "it was assigned", what="m.weight.values")
    equal(paths(m), ["weight"], "self.weight = Parameter(1, 2)", what="the paths of m.named_parameters()")
    equal(
        "weight" in m.__dict__,
        False,
        "registered values are no ordinary attributes",
        what='"weight" in m.__dict__',
    )


@points(1, "ordinary attributes")
def test_ordinary(yours):
    m = layer(yours, 1)
    m.size, m.cache = 3, yours.Tensor(7)
    equal(
        (m.size, m.cache.values),
        (3, [7]),
        "anything else is an ordinary attribute",
        what="m.size, m.cache.values",
    )
    equal(paths(m), ["weight"], "a plain Tensor is not trained", what="the paths")
    raises(AttributeError, getattr, m, "nothing", why="no such name")


@points(1, "modules inside modules: own parameters first, then children in order")
def test_tree(yours):
    m = layer(yours, 1)
    m.a, m.b = layer(yours, 2), yours.Module()
    m.b.deep = layer(yours, 3)
    m.bias = yours.Parameter(4)
    found = [(path, parameter.values) for path, parameter in m.named_parameters()]
    expected = [("weight", [1]), ("bias", [4]), ("a.weight", [2]), ("b.deep.weight", [3])]
    equal(
        found,
        expected,
        "own ones first, then the children's, each in the order of assignment",
        what="named_parameters()",
    )


@points(1, "a shared parameter comes once")
def test_shared(yours):
    m = yours.Module()
    m.encoder, m.decoder = layer(yours, 1), layer(yours, 2)
    m.decoder.weight = m.encoder.weight
    m.again = m.encoder
    why = "one parameter under several names: twice in the list, it would be trained twice in a step"
    equal(paths(m), ["encoder.weight"], why, what="decoder.weight = encoder.weight; the paths")
    m = yours.Module()
    m.first, m.second = layer(yours, 1), layer(yours, 1)
    why = "two parameters with the same numbers are two: what counts is whether it is the same object"
    equal(paths(m), ["first.weight", "second.weight"], why, what="two layers that start alike; the paths")


@points(1, "lists are not looked into")
def test_lists(yours):
    m = layer(yours, 1)
    m.layers = [layer(yours, 2)]
    m.table = {"a": yours.Parameter(3)}
    equal(
        paths(m),
        ["weight"],
        "a list is an ordinary attribute; ModuleList is there for this",
        what="m.layers = [Layer()]; the paths",
    )


@points(1, "neither a number nor a Tensor over a parameter or module")
def test_refused(yours):
    m = layer(yours, 1)
    m.child = layer(yours, 2)
    for name, value in (("weight", yours.Tensor(5)), ("weight", 3), ("child", 3), ("child", yours.Tensor(5))):
        raises(TypeError, setattr, m, name, value, why="the optimizer would go on with what was there before")
    equal(
        (m.weight.values, m.child.weight.values), ([1], [2]), "nothing has changed", what="after the refusals"
    )


@points(1, "None keeps the name")
def test_none(yours):
    m = layer(yours, 1)
    m.child = layer(yours, 2)
    m.weight = None
    m.child = None
    equal(
        (m.weight, m.child, paths(m)),
        (None, None, []),
        "None is left out",
        what="m.weight, m.child, the paths",
    )
    why = "the name stays registered: a number may not take it"
    raises(TypeError, setattr, m, "weight", 3, why=why)
    m.weight = yours.Parameter(4)
    equal(paths(m), ["weight"], "a Parameter may take its place again", what="the paths")


@points(1, "a new value takes the name from wherever it was")
def test_one_meaning(yours):
    m = yours.Module()
    m.x = 3
    m.x = yours.Parameter(1)
    equal(
        (getattr(m.x, "values", m.x), paths(m)),
        ([1], ["x"]),
        "a name has one meaning",
        what="m.x = 3; m.x = Parameter(1)",
    )
    m.x = layer(yours, 2)
    equal(
        paths(m), ["x.weight"], "a name has one meaning", what="m.x = Parameter(1); m.x = Layer(); the paths"
    )


@points(1, "nothing before Module.__init__")
def test_before_init(yours):
    class Early(yours.Module):
        def __init__(self, value):
            self.value = value

    for value in (yours.Parameter(1), yours.Module()):
        raises(AttributeError, Early, value, why="there is no place to register it yet")
    equal(
        Early(3).value,
        3,
        "an ordinary attribute needs no place",
        what="self.value = 3 before Module.__init__()",
    )
