"""What runs a captured graph: fused kernels, or the operators one by one, or a function of the user's."""
from ..fx import GraphModule, Interpreter
from ..tensor import Tensor
from .program import Program


def fused(graph, name):
    """Kernels for what can be fused, calls for the rest; only on the CPU, elsewhere the operators run one by one."""
    devices = {n.meta.get("device", "cpu") for n in graph.nodes}
    return Program(graph, name) if devices == {"cpu"} else eager(graph, name)


def eager(graph, name):
    """The captured operators, one by one."""
    return NodeByNode(graph)


class NodeByNode:
    """Runs a graph with fx's Interpreter."""

    def __init__(self, graph):
        self.graph = graph
        self.module = GraphModule({}, graph)

    def __call__(self, *tensors):
        found = Interpreter(self.module).run(*tensors)
        return tuple([t.detach() if any(t is given for given in tensors) else t for t in found])


def user_function(backend, examples):
    """A backend of the user's: backend(GraphModule, example inputs) returns what is called in its place."""
    def make(graph, name):
        module = GraphModule({}, graph)
        inputs = [n.meta["val"] for n in graph.nodes if n.op == "placeholder"]
        run = backend(module, examples if len(examples) == len(inputs) else inputs)
        return lambda *tensors: as_tuple(run(*tensors))
    return make


def as_tuple(found):
    return (found,) if isinstance(found, Tensor) else tuple(found)


NAMED = {"fused": fused, "inductor": fused, "eager": eager, "aot_eager": eager}


def list_backends():
    """The names that `compile(backend=...)` takes."""
    return sorted(NAMED)


def find(backend, examples):
    """The function that makes a runner of a graph. ValueError for a name that is not known."""
    if callable(backend):
        return user_function(backend, examples)
    if backend not in NAMED:
        raise ValueError(f"Invalid backend: {backend!r}, see `teachtorch.compiler.list_backends()` for "
                         f"available backends: {', '.join(list_backends())}")
    return NAMED[backend]
