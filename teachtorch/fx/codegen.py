"""From a graph back to Python source."""
import builtins
import keyword
import operator
import re
import sys
from dataclasses import dataclass, field

from ..core.device import device
from ..core.dtype import dtype
from ..utils._pytree import tree_flatten, tree_unflatten
from .node import Node, is_builtin, nodes_in, qualified_name, type_repr

BINARY = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
          operator.floordiv: "//",
          operator.mod: "%", operator.pow: "**", operator.matmul: "@", operator.and_: "&", operator.or_: "|",
          operator.xor: "^", operator.lshift: "<<", operator.rshift: ">>", operator.eq: "==",
          operator.ne: "!=",
          operator.lt: "<", operator.gt: ">", operator.le: "<=", operator.ge: ">="}
UNARY = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}
IN_PLACE = {operator.iadd: "+=", operator.isub: "-=", operator.imul: "*=", operator.itruediv: "/=",
            operator.ifloordiv: "//=", operator.imod: "%=", operator.ipow: "**=", operator.imatmul: "@=",
            operator.iand: "&=", operator.ior: "|=", operator.ixor: "^=", operator.ilshift: "<<=",
            operator.irshift: ">>="}


@dataclass
class PythonCode:
    """Source of a `forward`, and what its global names are bound to."""

    src: str
    globals: dict = field(default_factory=dict)


def python_code(graph, root_module, verbose=False):
    """The whole function; `verbose`: with comments that say where each call stood in the traced code."""
    return Writer(graph, root_module, verbose).code()


class CodeGen:
    """What surrounds a graph's statements: the first line, the return, and the change of inputs that they imply.

    `body_transformer`: a function from the list of lines to another one, or None. torch.fx.CodeGen.
    """

    body_transformer = None

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        """The first line of the function. `free_vars`: its parameters as text, the root's name first."""
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args, text):
        """The return statement; `text(argument)` writes an argument."""
        return f"return {text(output_args)}"

    def process_inputs(self, *args):
        """The values of the graph's placeholders for these arguments of the function."""
        return args

    def process_outputs(self, outputs):
        """What the function returns for this value of the graph's output."""
        return outputs

    def additional_globals(self):
        """{name: value} that the written lines need."""
        return {}


class PyTreeCodeGen(CodeGen):
    """Of a graph whose placeholders are the leaves of nested arguments (concrete_args with PH in them).

    Args:
        names: the parameters of the traced function.
        in_spec, out_spec: how its arguments and its result are nested.
    """

    def __init__(self, names, in_spec):
        self.names, self.in_spec, self.out_spec = names, in_spec, None

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        root, *leaves = free_vars
        leaves = [leaf.partition(" ")[0] for leaf in leaves]
        head = super().gen_fn_def([root, *self.names], maybe_return_annotation)
        return f"{head}\n    {', '.join(leaves)}, = flatten_arguments([{', '.join(self.names)}])"

    def generate_output(self, output_args, text):
        return f"return tree_unflatten({text(output_args)}, out_spec)"

    def process_inputs(self, *args):
        leaves, spec = tree_flatten(tuple(args))
        if spec != self.in_spec:
            raise ValueError(f"the arguments are nested as {spec}, but the function was traced with "
                             f"{self.in_spec}")
        return leaves

    def process_outputs(self, outputs):
        return outputs if self.out_spec is None else tree_unflatten(outputs, self.out_spec)

    def additional_globals(self):
        return {"tree_unflatten": tree_unflatten, "out_spec": self.out_spec,
                "flatten_arguments": lambda args: self.process_inputs(*args)}


class Writer:
    """Writes the statements of one graph, and notes the global names they need."""

    def __init__(self, graph, root_module, verbose=False):
        self.graph = graph
        self.verbose = verbose
        self.last_place = None
        self.root = root_module
        self.globals = {}
        self.last_uses = last_uses(graph)

    def code(self):
        codegen = self.graph._codegen
        parameters = [self.parameter(node) for node in self.graph.nodes if node.op == "placeholder"]
        self.globals.update(codegen.additional_globals())
        body = [line + "\n" for node in self.graph.nodes for line in self.lines(node)] or ["pass\n"]
        if codegen.body_transformer is not None:
            body = codegen.body_transformer(body)
        head = codegen.gen_fn_def([self.root, *parameters], self.return_annotation())
        lines = [head, *"".join(body).split("\n")]
        return PythonCode("\n\n\n" + "\n    ".join(lines), self.globals)

    def parameter(self, node):
        """The parameter of a placeholder; a starred one is bound to the node's name in the body."""
        if node.target.startswith("*"):
            return node.target
        annotation = self.annotation(node.type)
        return (node.target + (f" : {annotation}" if annotation else "")
                + (f" = {self.text(node.args[0])}" if node.args else ""))

    def annotation(self, kind):
        """A type as the code names it; "" for none and for one written as a string."""
        if kind is None or isinstance(kind, str):
            return ""
        return type_repr(kind) if is_builtin(kind) else self.global_name(type_repr(kind), kind)

    def return_annotation(self):
        kinds = [node.type for node in self.graph.nodes if node.op == "output"]
        annotation = self.annotation(kinds[-1]) if kinds else ""
        return f" -> {annotation}" if annotation else ""

    def lines(self, node):
        """The lines of one node, and above them where it comes from, if that is asked for and new."""
        place = place_of(node)
        if not self.verbose or node.op in ("placeholder", "output") or place == self.last_place:
            return self.statement(node)
        self.last_place = place
        return [*([""] if node.stack_trace else []), place, *self.statement(node)]

    def statement(self, node):
        """The lines of one node."""
        if node.op == "output":
            return [self.graph._codegen.generate_output(node.args[0], self.text)]
        if node.op == "placeholder":
            free = node.target.lstrip("*")
            return [f"{node.name} = {free}{self.forget(node)}"] if node.name != free else []
        if node.op == "call_function" and node.target in IN_PLACE and len(node.args) == 2:
            left, right = map(self.text, node.args)
            return [f"{left} {IN_PLACE[node.target]} {right}", f"{node.name} = {left}{self.forget(node)}"]
        return [f"{node.name} = {self.expression(node)}{self.forget(node)}"]

    def forget(self, node):
        """What is bound to None once it has been used for the last time, so that memory is freed early."""
        names = self.last_uses.get(node, [])
        return f";  {' = '.join([n.name for n in names])} = None" if names else ""

    def expression(self, node):
        """The right-hand side of a call."""
        if node.op == "get_attr":
            return path(self.root, node.target)
        if node.op == "call_module":
            return f"{path(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            owner, *rest = node.args
            return f"{self.text(owner)}.{node.target}({self.arguments(rest, node.kwargs)})"
        return self.function_call(node)

    def function_call(self, node):
        target, args = node.target, node.args
        if not node.kwargs and target in BINARY and len(args) == 2:
            return f"{self.text(args[0])} {BINARY[target]} {self.text(args[1])}"
        if not node.kwargs and target in UNARY and len(args) == 1:
            return f"{UNARY[target]}{self.text(args[0])}"
        if target is operator.getitem and len(args) == 2:
            return f"{self.text(args[0])}[{self.text(args[1])}]"
        if target is getattr and len(args) == 2 and isinstance(args[1], str) and args[1].isidentifier():
            return f"{self.text(args[0])}.{args[1]}"
        return f"{self.global_name(qualified_name(target), target)}({self.arguments(args, node.kwargs)})"

    def arguments(self, args, kwargs):
        return ", ".join([*map(self.text, args),
                          *[f"{key} = {self.text(value)}" for key, value in kwargs.items()]])

    def text(self, argument):
        """An argument as an expression."""
        if isinstance(argument, Node):
            return argument.name
        if isinstance(argument, tuple) and hasattr(argument, "_fields"):
            items = ", ".join(map(self.text, argument))
            return f"{self.global_name(type(argument).__name__, type(argument))}({items})"
        if isinstance(argument, tuple):
            return f"({', '.join(map(self.text, argument))}{',' if len(argument) == 1 else ''})"
        if isinstance(argument, list):
            return f"[{', '.join(map(self.text, argument))}]"
        if isinstance(argument, dict):
            return "{" + ", ".join([f"{self.text(k)}: {self.text(v)}" for k, v in argument.items()]) + "}"
        if isinstance(argument, slice):
            return f"slice({', '.join(map(self.text, (argument.start, argument.stop, argument.step)))})"
        return self.constant(argument)

    def constant(self, value):
        if isinstance(value, float) and value != value or value in (float("inf"), float("-inf")):
            self.globals.update({"inf": float("inf"), "nan": float("nan")})
            return str(float(value))
        if isinstance(value, dtype):
            return self.global_name(f"torch.{value.name}", value)
        if isinstance(value, device):
            return f"{self.global_name('device', type(value))}{repr(value).removeprefix('device')}"
        if value is Ellipsis or value is None or isinstance(value, (int, float, str, bytes, complex)):
            return repr(value)
        if isinstance(value, type) or callable(value):
            return self.global_name(qualified_name(value), value)
        return self.global_name(type(value).__name__.lower() + "_constant", value)

    def global_name(self, name, value):
        """The name under which the code reaches `value`; a name that is taken already gets a number."""
        if name.startswith("builtins.") and getattr(builtins, name[9:], None) is value:
            return name[9:]
        front = name.partition(".")[0]
        if front == "torch" and front not in self.globals:
            self.globals[front] = sys.modules[__name__.partition(".")[0]]
        if front in ("torch", "operator"):
            self.globals.setdefault("operator", operator)
            return name
        short = re.sub(r"\W", "_", name)
        while self.globals.get(short, value) is not value:
            short += "_"
        self.globals[short] = value
        return short


def place_of(node):
    """A comment that says where the traced code had a call."""
    if not node.stack_trace:
        return "# No stacktrace found for following nodes"
    *_, where, code = node.stack_trace.strip("\n").split("\n")
    file, line, function = re.fullmatch(r'\s*File "(.*)", line (\d+), in (.*)', where).groups()
    return f"# File: {file}:{line} in {function}, code: {code.strip()}"


def path(root, target):
    """`self.layer`; a part that is no identifier goes through getattr."""
    for atom in target.split("."):
        is_name = atom.isidentifier() and not keyword.iskeyword(atom)
        root = f"{root}.{atom}" if is_name else f'getattr({root}, "{atom}")'
    return root


def last_uses(graph):
    """{node: the nodes that are used for the last time there}; a node that nobody uses ends where it is made."""
    found, ended = {}, set()
    for node in reversed(graph.nodes):
        for used in reversed(nodes_in(node.args, node.kwargs)):
            if used not in ended:
                ended.add(used)
                if node.op != "output":
                    found.setdefault(node, []).insert(0, used)
        if not node.users and node.op not in ("placeholder", "output"):
            ended.add(node)
            found.setdefault(node, []).append(node)
    return found
