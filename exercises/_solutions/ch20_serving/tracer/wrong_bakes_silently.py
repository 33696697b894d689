"""Tensors go into the graph as they are."""

FAILS = "test_frozen"
SAYS = "in graph.constants"


class Name(str):
    """The name of a node, as an argument of another."""


class CannotTrace(Exception):
    """The function asks for a value that is not there while it is traced."""


class Tensor:
    """A tensor that the function holds: here only something that is no plain number."""

    def __init__(self, *values):
        self.values = values

    def __mul__(self, other):
        return other * self if isinstance(other, Proxy) else Tensor(*[v * other for v in self.values])

    def __add__(self, other):
        return other + self if isinstance(other, Proxy) else Tensor(*[v + other for v in self.values])


class Module:
    """Something with tensors of its own: {name: Tensor}."""

    def __init__(self, **attributes):
        self.attributes = attributes

    def __getattr__(self, name):
        return self.attributes[name]


class Graph:
    """The nodes, in order, and the constants: tensors that are neither inputs nor attributes, {name: Tensor}."""

    def __init__(self, module):
        self.module, self.nodes, self.constants = module, [], {}

    def note(self, op, target, arguments=()):
        """Append a node; return the Proxy of its value."""
        name = Name(f"v{len(self.nodes)}")
        self.nodes.append((name, op, target, arguments))
        return Proxy(self, name)

    def argument(self, value):
        """What stands in a node for `value`: the Name of a Proxy's node; a number as it is; for a Tensor the Name of a node.

        An attribute of the module is a node ("attribute", its name), made when it is used. Any other tensor was made while
        tracing, by code that no proxy took part in: its value is frozen. That is reported: keep it in `constants` under
        "constant0", "constant1"..., and use a node ("attribute", that name).
        """
        if isinstance(value, Proxy):
            return value.name
        if not isinstance(value, Tensor):
            return value
        held = [name for name, t in self.module.attributes.items() if t is value]
        if not held:
            return value
        return self.note("attribute", held[0]).name


class Proxy:
    """A stand-in for a value of the traced function. `name`: its node's."""

    def __init__(self, graph, name):
        self.graph, self.name = graph, name

    def __add__(self, other):
        return noted(self, "add", other)

    def __mul__(self, other):
        return noted(self, "mul", other)

    def __rmul__(self, other):
        """`2 * proxy`: Python asks the right-hand side when a number on the left cannot."""
        left = self.graph.argument(other)
        return self.graph.note("call", "mul", (left, self.name))

    def relu(self):
        return self.graph.note("call", "relu", (self.name,))

    def __gt__(self, other):
        return noted(self, "gt", other)

    def __bool__(self):
        """`if proxy:` asks for a value: raise CannotTrace."""
        raise CannotTrace("a branch depends on a traced value")


def noted(proxy, target, other):
    right = proxy.graph.argument(other)
    return proxy.graph.note("call", target, (proxy.name, right))


def trace(forward, module):
    """The Graph of `forward(module, x)`: a node ("input", "x"), the rest as it runs, and ("output", "output", (result,))."""
    graph = Graph(module)
    result = forward(module, graph.note("input", "x"))
    graph.note("output", "output", (graph.argument(result),))
    return graph
