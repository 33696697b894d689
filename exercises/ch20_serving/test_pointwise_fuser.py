"""Grades pointwise_fuser.py."""

import math

import numpy as np

from exercises.grading import close, equal, holds, points

CHAIN = [("x", "input", ()), ("a", "mul", ("x", 2.0)), ("b", "add", ("a", 1.0)), ("c", "exp", ("b",)), ("d", "neg", ("c",))]
SOFTMAX = [("x", "input", ()), ("e", "exp", ("x",)), ("s", "sum", ("e",)), ("y", "div", ("e", "s")), ("z", "mul", ("y", 2.0))]
BIAS = [("x", "input", ()), ("row", "input", ()), ("column", "input", ()), ("twice", "mul", ("row", 2.0)),
        ("y", "add", ("x", "twice")), ("z", "mul", ("y", "column"))]
SHAPES = {"x": (2, 3), "row": (3,), "column": (2, 1), "twice": (3,), "y": (2, 3), "z": (2, 3)}


def alike(nodes, shape, **others):
    return {**{name: shape for name, _, _ in nodes}, **others}


def make(shape):
    """Nested lists of zeros."""
    return [0.0] * shape[0] if len(shape) == 1 else [[0.0] * shape[1] for _ in range(shape[0])]


def run(yours, nodes, shapes, inputs, wanted):
    """Run the groups' kernels one after the other; what they leave of the wanted values."""
    env, groups = dict(inputs), yours.fuse(nodes, shapes)
    later = {o for _, _, operands in nodes for o in operands if isinstance(o, str)}
    for group in groups:
        scope = {}
        text = yours.source(group, nodes, shapes, {*wanted, *later})
        exec(text, scope)
        scope["kernel"](env, math.exp, make)
    return [env.get(name) for name in wanted]


@points(1, "a chain is one loop")
def test_chain(yours):
    got = yours.fuse(CHAIN, alike(CHAIN, (4,)))
    equal(got, [["a", "b", "c", "d"]], "all four are pointwise and of one shape: one loop computes them", what="the groups")


@points(1, "a sum ends its loop")
def test_sum_ends(yours):
    got = yours.fuse(SOFTMAX, alike(SOFTMAX, (4,), s=()))
    why = "the sum of e may end the loop that computes e, but it is complete only when its loop ends: y needs another"
    equal(got, [["e", "s"], ["y", "z"]], why, what="the groups")


@points(1, "one loop, one shape")
def test_shapes(yours):
    got = yours.fuse(BIAS, SHAPES)
    equal(got, [["twice"], ["y", "z"]], "twice has another shape, (3,), and y and z have (2, 3)", what="the groups")


@points(1, "which element of an operand")
def test_index(yours):
    got = [yours.index(shape) for shape in ((2, 3), (), (3,))]
    equal(got, ["[i][j]", "", "[j]"], "shapes are matched from the last dim, which the columns j walk", what="the indices")
    got = [yours.index(shape) for shape in ((2, 1), (1, 3), (1,))]
    equal(got, ["[i][0]", "[0][j]", "[0]"], "a dim of size 1 has one element for all", what="the indices")


@points(2, "the kernels compute what the graph means")
def test_values(yours):
    x, row, column = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [1.0, 0.0, -1.0], [[1.0], [10.0]]
    z, = run(yours, BIAS, SHAPES, {"x": x, "row": row, "column": column}, ["z"])
    equal(z, [[3.0, 2.0, 1.0], [60.0, 50.0, 40.0]], "(x + 2 row) * column, all broadcast to (2, 3)", what="z")
    total, = run(yours, [*BIAS, ("t", "sum", ("z",))], {**SHAPES, "t": ()}, {"x": x, "row": row, "column": column}, ["t"])
    equal(total, 156.0, "the sum of all six", what="the sum of z")


@points(1, "a value that is needed twice is computed once")
def test_once(yours):
    depth = 10
    nodes = [("t0", "input", ())] + [(f"t{k + 1}", "add", (f"t{k}", f"t{k}")) for k in range(depth)]
    shapes = alike(nodes, (1,))
    Counted.additions = 0
    last = f"t{depth}"
    run(yours, nodes, shapes, {"t0": [Counted(1)]}, [last])
    holds(Counted.additions <= depth, f"each node is computed once for each element: {depth} nodes doubled one number in "
          f"{Counted.additions} additions")


ARRAYS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "sum": np.sum}


def any_graph(rng):
    """A graph of ten nodes over four inputs of different shapes, and what each name means, as arrays."""
    arrays = np.random.default_rng(rng.randrange(10**6))
    sizes = {"x": (2, 3), "row": (3,), "column": (2, 1), "number": ()}
    means = {name: np.asarray(arrays.random(size)) for name, size in sizes.items()}
    nodes = [(name, "input", ()) for name in means]
    while len(nodes) < 14:
        name, op = f"n{len(nodes)}", rng.choice(list(ARRAYS))
        names = [each for each in means if op != "sum" or means[each].ndim]
        near = rng.sample(names[-4:], 2) if len(names) > 4 else rng.sample(names, 2)
        operands = tuple(near) if op in ("add", "sub", "mul") else (near[0],)
        nodes.append((name, op, operands))
        means[name] = np.asarray(ARRAYS[op](*[means[each] for each in operands]))
    return nodes, means


@points(1, "any graph")
def test_any(yours, rng):
    for _ in range(10):
        nodes, means = any_graph(rng)
        inputs = {name: means[name].tolist() for name, op, _ in nodes if op == "input"}
        wanted = [name for name, op, _ in nodes if op != "input"]
        found = run(yours, nodes, {name: value.shape for name, value in means.items()}, inputs, wanted)
        for name, got in zip(wanted, found):
            close(np.array(got, dtype=float), means[name], "the value of the graph, computed with arrays",
                  what=f"{name} of {nodes}")


class Counted:
    """A number that counts its additions."""

    additions = 0

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        Counted.additions += 1
        return Counted(self.value + other.value)
