"""Pickling a GraphModule: its attributes and its code; the code is traced again when it is loaded."""
from ..core.generated import function_from
from ..nn import Module
from .graph_module import GraphModule
from .tracer import Tracer


class KeepModules(Tracer):
    """The code of a GraphModule calls whole submodules."""

    def is_leaf_module(self, m, module_qualified_name):
        return True


def reduced(module):
    """What `rebuild` is called with."""
    written = module.graph.python_code("self")
    attributes = {k: v for k, v in module.__dict__.items() if k not in ("_graph", "_code")}
    return type(module).__name__, attributes, written.src, importable(written.globals)


def importable(scope):
    """The globals of generated code without the modules, which every process has under the same names."""
    return {name: value for name, value in scope.items() if name not in ("torch", "operator")}


def rebuild(class_name, attributes, source, scope):
    """The GraphModule again."""
    import operator
    import sys

    holder = Module()
    holder.__dict__.update(attributes)
    scope = {**scope, "operator": operator, "torch": sys.modules[__name__.partition(".")[0]]}
    forward = function_from(source, "forward", f"pickled {class_name}", scope)
    holder.__class__ = type(class_name, (Module,), {"forward": forward})
    made = GraphModule(holder, KeepModules().trace(holder))
    for name, value in attributes.items():
        if not hasattr(made, name):
            setattr(made, name, value)
    return made
