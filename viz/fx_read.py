"""What a picture knows of an fx graph: each call as text, what it reads, its shape."""

from dataclasses import dataclass, replace

_OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
_LONGEST = 46


@dataclass(frozen=True)
class Call:
    """One node. text: its expression; short: what it calls; reads: names of the nodes it takes.

    Of a changed node: gained and lost are the names that it reads since the change, and no more.
    """

    name: str
    op: str
    text: str
    short: str
    reads: tuple
    shape: str
    mark: str = "same"
    note: str = ""
    gained: frozenset = frozenset()
    lost: frozenset = frozenset()

    def with_mark(self, mark, note=""):
        return replace(self, mark=mark, note=note)

    def changed_from(self, old):
        """It, marked as changed, with what it read before."""
        gained, lost = frozenset(self.reads).difference(old.reads), frozenset(old.reads).difference(self.reads)
        return replace(self, mark="changed", note=f"was {old.text}", gained=gained, lost=lost)


def graph_of(what, caller):
    """The graph of a module, a traced function, or itself."""
    graph = getattr(what, "graph", what)
    nodes = getattr(graph, "nodes", None)
    if nodes is None or callable(nodes) or not all(getattr(node, "op", None) in _OPS for node in nodes):
        raise TypeError(
            f"{caller} draws an fx GraphModule or Graph, not {type(what).__name__}: trace it first, "
            "with fx.symbolic_trace or teachtorch's jit.trace"
        )
    return graph


def read(graph):
    """The nodes as Calls, in order."""
    modules = dict(graph.owning_module.named_modules()) if getattr(graph, "owning_module", None) is not None else {}
    return [_call(node, modules) for node in graph.nodes]


def _call(node, modules):
    return Call(
        node.name,
        node.op,
        _cut(_expression(node)),
        _short(node, modules),
        tuple(each.name for each in node.all_input_nodes),
        _class_and_shape(_class_of(node, modules), _shape(node.meta)),
    )


def _class_and_shape(name, shape):
    """ "Linear → float32 (2, 3)"; either may be unknown."""
    return " → ".join(filter(None, (name, shape)))


def _expression(node):
    rest = [_text(a) for a in node.args] + [f"{key}={_text(value)}" for key, value in node.kwargs.items()]
    if node.op == "placeholder":
        return str(node.target) + (f" = {rest[0]}" if rest else "")
    if node.op == "get_attr":
        return f"self.{node.target}"
    if node.op == "output":
        return f"return {rest[0] if rest else ''}"
    if node.op == "call_method":
        return f"{rest[0]}.{node.target}({', '.join(rest[1:])})"
    called = f"self.{node.target}" if node.op == "call_module" else _function_name(node.target)
    return f"{called}({', '.join(rest)})"


def _function_name(target):
    """ "add" of torch.add and operator.add, "add.Tensor" of an operator under its full name."""
    return getattr(target, "__name__", None) or str(target)


def _class_of(node, modules):
    """The class of the module that a node calls, if the graph knows its modules."""
    known = node.op == "call_module" and node.target in modules
    return type(modules[node.target]).__name__ if known else ""


def _short(node, modules):
    if _class_of(node, modules):
        return _class_of(node, modules)
    if node.op == "get_attr":
        return str(node.target).rpartition(".")[2]
    return node.op if node.op in ("placeholder", "output") else _function_name(node.target)


def _text(argument):
    if hasattr(argument, "op") and hasattr(argument, "name"):
        return argument.name
    if isinstance(argument, tuple) and not hasattr(argument, "_fields"):
        return f"({', '.join(map(_text, argument))}{',' if len(argument) == 1 else ''})"
    if isinstance(argument, list):
        return f"[{', '.join(map(_text, argument))}]"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{key}: {_text(value)}" for key, value in argument.items()) + "}"
    if isinstance(argument, slice):
        return ":".join("" if part is None else _text(part) for part in (argument.start, argument.stop))
    return getattr(argument, "__name__", None) or repr(argument)


def _cut(text):
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# Shapes


def _shape(meta):
    """What passes have noted: "float32 (2, 3)"."""
    for key in ("tensor_meta", "val", "type"):
        found = meta.get(key)
        if isinstance(found, str):
            return found.partition(", strides")[0] + ")" if ", strides" in found else found
        if hasattr(found, "shape") and hasattr(found, "dtype"):
            return _one(found)
        if isinstance(found, (tuple, list)) and found:
            return _cut(", ".join(_one(each) if hasattr(each, "dtype") else "…" for each in found))
    return ""


def _one(value):
    sizes = ", ".join(map(str, value.shape))
    return f"{str(value.dtype).rpartition('.')[2]} ({sizes}{',' if len(value.shape) == 1 else ''})"
