"""Grades parametrize.py."""

from exercises.grading import equal, points, raises


def fresh():
    """A class of layers that no other test has changed."""

    class Layer:
        def __init__(self, weight=6, bias=1):
            self.weight, self.bias = weight, bias

    return Layer


def doubled(layer, yours, name="weight"):
    """Registers: the value is twice the original."""
    yours.register(layer, name, lambda x: x * 2, lambda y: y / 2)
    return layer


@points(1, "registering keeps the value")
def test_registering_keeps_the_value(yours):
    Layer = fresh()
    layer = doubled(Layer(6), yours)
    equal(layer.originals, {"weight": 3.0}, "the original is inverse(the old weight)", what="layer.originals")
    equal(layer.weight, 6.0, "so the weight is what it was", what="layer.weight")


@points(1, "without an inverse the old value is the original")
def test_without_inverse(yours):
    Layer = fresh()
    layer = Layer(6)
    yours.register(layer, "weight", lambda x: x * 2)
    equal(
        (layer.originals, layer.weight),
        ({"weight": 6}, 12),
        "there is nothing else to begin with",
        what="originals, weight",
    )


@points(1, "computed at each access")
def test_computed_anew(yours):
    Layer = fresh()
    layer = doubled(Layer(6), yours)
    first = layer.weight
    layer.originals["weight"] = 10
    why = "an optimizer changes the original, so the weight is computed at each access"
    equal((first, layer.weight), (6.0, 20), why, what='originals["weight"] = 10; layer.weight')


@points(1, "an assignment goes through the inverse")
def test_assignment(yours):
    Layer = fresh()
    layer = doubled(Layer(6), yours)
    layer.weight = 50
    equal(
        (layer.originals["weight"], layer.weight),
        (25.0, 50.0),
        "stored is inverse(value)",
        what="layer.weight = 50: original, weight",
    )


@points(1, "no inverse, no assignment")
def test_refused(yours):
    Layer = fresh()
    layer = Layer(6)
    yours.register(layer, "weight", lambda x: x * 2)
    raises(AttributeError, setattr, layer, "weight", 3, why="which original would give 3?")
    equal(layer.weight, 12, "nothing was stored", what="layer.weight afterwards")


@points(1, "other layers do not notice")
def test_other_layers(yours):
    Layer = fresh()
    layer, other = doubled(Layer(6), yours), Layer(7)
    equal(
        (other.weight, type(other).__name__),
        (7, "Layer"),
        "the layer has a class of its own",
        what="another layer",
    )
    equal(
        (type(layer).__name__, isinstance(layer, Layer)),
        ("ParametrizedLayer", True),
        "a class of its own: a subclass",
        what="the class",
    )
    third = doubled(Layer(8), yours)
    equal((layer.weight, third.weight), (6.0, 8.0), "each has its own original", what="two of them")


@points(1, "several attributes")
def test_several(yours):
    Layer = fresh()
    layer = doubled(doubled(Layer(6, 1), yours), yours, "bias")
    equal(layer.originals, {"weight": 3.0, "bias": 0.5}, "one original each", what="layer.originals")
    layer.bias = 4
    equal(
        (layer.weight, layer.bias, type(layer).__name__),
        (6.0, 4.0, "ParametrizedLayer"),
        "one class for both",
        what="weight, bias, class",
    )


@points(1, "cached: computed once inside")
def test_cache(yours):
    Layer = fresh()
    calls, layer = [], Layer(6)
    yours.register(layer, "weight", lambda x: calls.append(x) or x * 2)
    other = doubled(Layer(8), yours)
    calls.clear()
    with yours.cached():
        found = [layer.weight, layer.weight, other.weight]
    equal(
        (found, len(calls)),
        ([12, 12, 8.0], 1),
        "once in the block, each layer for itself",
        what="three accesses: values, computations",
    )


@points(1, "after the block nothing is cached")
def test_cache_ends(yours):
    Layer = fresh()
    layer = doubled(Layer(6), yours)
    with yours.cached():
        before = layer.weight
        layer.weight = 10
        inside = layer.weight
    equal(
        (before, inside, layer.weight),
        (6.0, 6.0, 10.0),
        "cached inside, computed anew after the block",
        what="before, inside, after",
    )
    try:
        with yours.cached():
            before = layer.weight
            raise KeyError
    except KeyError:
        layer.weight = 30
    equal(
        (before, layer.weight),
        (10.0, 30.0),
        "an error ends the block, too: computed anew after the block",
        what="after an error",
    )


@points(1, "removing leaves the value")
def test_remove(yours):
    Layer = fresh()
    layer = doubled(doubled(Layer(6, 1), yours), yours, "bias")
    yours.remove(layer, "weight")
    found = layer.__dict__.get("weight"), layer.originals, type(layer).__name__
    equal(
        found,
        (6.0, {"bias": 0.5}, "ParametrizedLayer"),
        "the computed value becomes ordinary",
        what="after remove(weight)",
    )
    yours.remove(layer, "bias")
    layer.weight = 3
    equal(
        (layer.weight, layer.bias, type(layer).__name__),
        (3, 1.0, "Layer"),
        "with the last one goes the class",
        what="after remove(bias)",
    )
    equal(hasattr(layer, "originals"), False, "and the dict", what="hasattr(layer, 'originals')")
