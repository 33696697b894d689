"""Grades retain_graph.py."""

import gc
import weakref

from exercises.grading import equal, holds, points, raises


class Value:
    """Something that was saved: a number whose memory can be watched."""

    def __init__(self, number):
        self.number = number


class Mul:
    """Multiplies by a saved value. before: called when the node runs."""

    def __init__(self, saved, next_node=None, before=None):
        self.saved, self.next_node, self.before = [saved], next_node, before

    def __repr__(self):
        return f"Mul -> {self.next_node!r}"

    def apply(self, grad):
        if self.before:
            self.before()
        return grad * self.saved[0].unpack().number


class Add:
    """Adds a constant: saves nothing."""

    def __init__(self, next_node=None):
        self.saved, self.next_node = [], next_node

    def __repr__(self):
        return f"Add -> {self.next_node!r}"

    def apply(self, grad):
        return grad


def is_freed(saved):
    """Whether unpacking raises."""
    try:
        saved.unpack()
    except NotImplementedError:
        raise
    except RuntimeError:
        return True
    return False


@points(1, "unpack gives the saved value, until it is released")
def test_saved(yours):
    value = Value(3.0)
    saved = yours.Saved(value)
    holds(
        saved.unpack() is value,
        "the very object that was saved",
        what="Saved(value).unpack()",
        expected="value",
    )
    saved.release()
    saved.release()
    raises(RuntimeError, saved.unpack, why="its value has been released", text="a second time")


@points(1, "a second backward raises; with retain_graph it does not")
def test_second_backward(yours):
    graph = Mul(yours.Saved(Value(3.0)), Mul(yours.Saved(Value(5.0))))
    equal(yours.backward(graph, 1.0, retain_graph=True), 15.0, "3 * 5")
    equal(yours.backward(graph, 1.0), 15.0, "retain_graph=True kept what was saved")
    raises(RuntimeError, yours.backward, graph, 1.0, why="the second backward freed what was saved")


@points(1, "where nothing was saved, backward runs twice")
def test_nothing_saved(yours):
    graph = Add(Add())
    equal(yours.backward(graph, 1.0), 1.0, "(x + 1).sum()")
    equal(
        yours.backward(graph, 2.0), 2.0, "these nodes saved nothing, so there is nothing that could be gone"
    )


@points(1, "two losses share nodes that saved nothing")
def test_shared_nodes(yours):
    shared = Add(Add())
    first, second = Mul(yours.Saved(Value(3.0)), shared), Mul(yours.Saved(Value(5.0)), shared)
    equal(yours.backward(first, 1.0), 3.0, "the first loss")
    stays = shared.next_node is not None
    why = "the nodes stay: only saved values are freed"
    holds(stays, why, what="the next node of a node that has run", got="None", expected="the node it was")
    equal(
        yours.backward(second, 1.0),
        5.0,
        "the second loss comes to nodes that the first has run: they saved nothing",
    )


@points(1, "saved values are freed node by node")
def test_frees_node_by_node(yours):
    first, second, seen = yours.Saved(Value(3.0)), yours.Saved(Value(5.0)), []
    yours.backward(Mul(first, Mul(second, before=lambda: seen.append(is_freed(first)))), 1.0)
    why = "a node's values go before the next node runs: that is how memory falls during a backward"
    equal(seen, [True], why, what="whether the first node's value was freed when the second node ran")


@points(1, "released values give their memory back")
def test_memory(yours):
    value = Value(3.0)
    saved, watched = yours.Saved(value), weakref.ref(value)
    del value
    yours.backward(Mul(saved), 1.0)
    gc.collect()
    why = "the graph is still there, but the saved value must not keep its memory"
    holds(watched() is None, why, what="the saved value after backward", got="still alive", expected="gone")


@points(1, "any chain")
def test_any(yours, rng):
    numbers = [float(rng.randint(1, 3)) for _ in range(rng.randint(2, 6))]
    graph, expected = None, 1.0
    for number in numbers:
        graph, expected = Add(Mul(yours.Saved(Value(number)), graph)), expected * number
    equal(yours.backward(graph, 1.0, retain_graph=True), expected, "the product of the saved values")
    equal(yours.backward(graph, 1.0), expected, "the product of the saved values, again")
    raises(RuntimeError, yours.backward, graph, 1.0, why="what was saved is gone now")
