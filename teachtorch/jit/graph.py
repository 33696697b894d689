"""A trace as text: one line for each operator, with the type of its result."""
import operator
import os

from ..core.device import device
from ..core.dtype import dtype
from .. import fx
from ..fx.node import Node
from .sizes import NAMES as NUMBERS

NAMES = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long",
         "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool",
         "complex64": "ComplexFloat",
         "complex128": "ComplexDouble"}


def type_of(t):
    """"Float(2, 3, strides=[3, 1], device=cpu)": what a trace says of a value."""
    sizes = [str(size) for size in t.shape]
    inside = ", ".join([*sizes, f"strides={list(t.stride())}", f"device={t.device}"])
    return f"{NAMES.get(t.dtype.name, t.dtype.name)}({inside})"


class Graph(fx.Graph):
    """The graph of a trace: an fx.Graph of operators under their full names, which prints with types."""

    def inputs(self):
        """The inputs, in order."""
        return self.find_nodes(op="placeholder")

    def calls(self):
        """The operators and attributes, in order."""
        return [n for n in self.nodes if n.op not in ("placeholder", "output")]

    def outputs(self):
        """The nodes whose values are returned."""
        return list(self.output_node().args[0])

    def line(self, node):
        """One operator as text."""
        comment = [part for part in (f"scope: {node.meta['scope']}" if node.meta.get("scope") else "",
                                     place(node.meta.get("line", ""))) if part]
        return f"{typed(node)} = {call(node)}" + (f"  # {', '.join(comment)}" if comment else "")

    def __str__(self):
        inputs = ",\n      ".join([typed(node) for node in self.inputs()])
        lines = [self.line(node) for node in self.calls()]
        returned = ", ".join([f"%{node.name}" for node in self.outputs()])
        return "\n  ".join([f"graph({inputs}):", *lines, f"return ({returned})"]) + "\n"

    def shape_free(self):
        """The operators alone, to compare two traces."""
        return [call(node) for node in self.calls()]


def typed(node):
    return f"%{node.name} : {node.meta.get('type', 'Tensor')}"


def place(line):
    """The file without its folders."""
    return os.path.basename(line)


def call(node):
    """`aten::add(%x, %y, alpha=2)`"""
    if node.op == "get_attr":
        return f'prim::GetAttr[name="{node.target}"]()'
    if node.target is operator.getitem:
        return f"prim::TupleIndex({text(node.args[0])}, {node.args[1]})"
    name = f"aten::{NUMBERS[node.target]}" if node.target in NUMBERS else node.target._name
    arguments = [text(a) for a in node.args] + [f"{key}={text(value)}" for key, value in node.kwargs.items()]
    return f"{name}({', '.join(arguments)})"


def text(argument):
    if isinstance(argument, Node):
        return f"%{argument.name}"
    if isinstance(argument, (tuple, list)):
        return f"[{', '.join(map(text, argument))}]"
    if isinstance(argument, (dtype, device)):
        return str(argument)
    return repr(argument)
