"""`Graph`: a list of nodes that means a function."""
import copy
import inspect
import warnings
from contextlib import contextmanager

from ..nn import Module
from .codegen import CodeGen, PythonCode, python_code  # noqa: F401
from .names import Namespace, snake_case
from .node import Node, format_node, map_arg, pretty_target


class Root:
    """The place before the first and after the last node."""

    def __init__(self):
        self._prev = self._next = self
        self.op = "root"


class NodeList:
    """The nodes in the order they run; `reversed()` goes backward. Nodes may be erased while one iterates."""

    def __init__(self, graph):
        self.graph = graph

    def __len__(self):
        return self.graph._length

    def __iter__(self):
        node = self.graph._root._next
        while node is not self.graph._root:
            if not node._erased:
                yield node
            node = node._next

    def __reversed__(self):
        node = self.graph._root._prev
        while node is not self.graph._root:
            if not node._erased:
                yield node
            node = node._prev


class Graph:
    """Nodes, in an order in which they can run. A new node goes to the insertion point, the end at first.

    `owning_module`: the GraphModule that this graph belongs to, if one does. torch.fx.Graph.
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Root()
        self._length = 0
        self._insert_before = self._root
        self._namespace = Namespace()
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()

    @property
    def nodes(self):
        """The nodes, in order: iterate it, take its length, reverse it."""
        return NodeList(self)

    def output_node(self):
        """The node that returns."""
        return next(node for node in reversed(self.nodes) if node.op == "output")

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of one op, and of one target if it is named."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # ---- making nodes ------------------------------------------------------------------------------------

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A new node at the insertion point. Its name is made from `name` or the target."""
        args, kwargs = args or (), kwargs or {}
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        name = self._namespace.create_name(name if name is not None else self._candidate(op, target))
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._link(node)
        return node

    def _candidate(self, op, target):
        target = getattr(target, "overloadpacket", target)         # aten.add.Tensor is called like aten.add
        text = target if isinstance(target, str) else target.__name__
        if text.startswith("__") and text.endswith("__"):
            text = text[2:-2]
        return snake_case(text.rpartition(".")[2] if op == "call_function" else text)

    def _link(self, node):
        before = self._insert_before
        node._prev, node._next = before._prev, before
        before._prev._next = before._prev = node
        self._length += 1

    def placeholder(self, name, type_expr=None, default_value=inspect.Signature.empty):
        """An input. `default_value`: what the parameter is without an argument, if it may lack one."""
        default = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, default, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """An attribute of the module, such as "layer.weight". Warns if the owning module has none of that name."""
        if self.owning_module is not None and not has_attribute(self.owning_module, qualified_name):
            warnings.warn("Attempted to insert a get_attr Node with no underlying reference in the owning "
                          "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                          "GraphModule.add_parameter to add the necessary Parameter, or "
                          "nn.Module.register_buffer to add the necessary buffer",
                          stacklevel=2)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A call of a submodule. AttributeError if the owning module has none of that name."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result, type_expr=None):
        """What the graph returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda node: node):
        """Copy a node of another graph to here; `arg_transform(node)` gives this graph's node for each argument."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        new = self.create_node(node.op, node.target, args, dict(kwargs), node.name, node.type)
        new.meta = copy.copy(node.meta)
        return new

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copy all nodes of graph `g` to here, and return what stands for its output.

        `val_map`: {node of g: node of this graph}; what it holds already is not copied, and it is filled.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo):
        new = type(self)(tracer_cls=self._tracer_cls)
        new._codegen = self._codegen
        memo[id(self)] = new
        val_map = {}
        result = new.graph_copy(self, val_map, return_output_node=True)
        memo.update({id(old): made for old, made in val_map.items()})
        if result is not None:
            new.output(result[0], result[1].type).meta = copy.copy(result[1].meta)
        return new

    # ---- changing the list -------------------------------------------------------------------------------

    def inserting_before(self, n=None):
        """Where the next nodes go: before `n` (the first node without it). Also a context manager, which goes back."""
        return self._inserting(self._root._next if n is None else n)

    def inserting_after(self, n=None):
        """Where the next nodes go: after `n` (the end of the graph without it)."""
        return self._inserting(self._root if n is None else n._next)

    def _inserting(self, before):
        if before is not self._root and before.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        earlier, self._insert_before = self._insert_before, before
        return self._returning_to(earlier)

    @contextmanager
    def _returning_to(self, earlier):
        try:
            yield
        finally:
            self._insert_before = earlier

    def erase_node(self, to_erase):
        """Take a node out. RuntimeError if another one still uses it."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users "
                               f"in the graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        if self._insert_before is to_erase:
            self._insert_before = to_erase._next
        to_erase._unlink()
        to_erase._erased = True
        self._length -= 1
        to_erase.args, to_erase.kwargs = (), {}

    def eliminate_dead_code(self, is_impure_node=None):
        """Erase nodes that nobody uses and that do nothing else; returns whether there were any."""
        is_impure = is_impure_node or Node.is_impure
        before = len(self.nodes)
        for node in reversed(self.nodes):
            if not node.users and not is_impure(node):
                self.erase_node(node)
        return len(self.nodes) < before

    def lint(self):
        """Check the graph: each node uses only earlier nodes of this graph, names are unique, targets exist."""
        seen, names = set(), set()
        for node in self.nodes:
            self._check_arguments(node, seen)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._check_target(node)

    def _check_arguments(self, node, seen):
        if node.graph is not self:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        for argument in node.all_input_nodes:
            if argument.graph is not self:
                raise RuntimeError(f"Argument '{argument}' of Node '{node}' does not belong to this Graph, "
                                   "but was used as an argument! If you are copying nodes from another "
                                   "graph, make sure to use ``arg_transform`` on node_copy() to remap values\n"
                                   f"{self}")
            if argument not in seen:
                raise RuntimeError(f"Argument '{argument}' of Node '{node}' was used before it has been "
                                   "defined! Please check that Nodes in the graph are topologically "
                                   f"ordered\n{self}")

    def _check_target(self, node):
        place, seen = self.owning_module, []
        for atom in node.target.split("."):
            if not hasattr(place, atom):
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute "
                                   f"{atom} of {'.'.join(seen)}")
            place = getattr(place, atom)
            if node.op == "call_module" and not isinstance(place, Module):
                raise RuntimeError(f"Node {node} target {node.target} {atom} of {'.'.join(seen)} does not reference "
                                   "an nn.Module")
            seen.append(atom)

    # ---- as text -----------------------------------------------------------------------------------------

    def python_code(self, root_module, *, verbose=False, include_stride=False, include_device=False, colored=False,
                    expanded_def=False, record_func=False, additional_meta=None):
        """The graph as Python: a PythonCode with `src` and the `globals` it needs.

        `root_module`: usually "self". `verbose`: with a comment above each call that says where the traced code had
        it, if the tracer recorded that. The other options write tensors' metadata and colours in PyTorch;
        NotImplementedError for them.
        """
        refuse_options(include_stride=include_stride, include_device=include_device, colored=colored,
                       expanded_def=expanded_def, record_func=record_func, additional_meta=additional_meta)
        return python_code(self, root_module, verbose)

    def set_codegen(self, codegen):
        """Let another CodeGen write the function around the statements."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer):
        """Change the lines of the written function from the next `recompile` on.

        `make_transformer(present)`: returns a function from the list of lines to another; `present` is the
        one that is set now, or None. Returns a context manager that sets `present` back.
        """
        earlier = self._codegen.body_transformer
        self._codegen.body_transformer = make_transformer(earlier)
        return self._transforming_as_before(earlier)

    @contextmanager
    def _transforming_as_before(self, earlier):
        try:
            yield
        finally:
            self._codegen.body_transformer = earlier

    def process_inputs(self, *args):
        """The values of the placeholders for these arguments."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """What the function returns for this value of the output node."""
        return self._codegen.process_outputs(out)

    def print_tabular(self):
        """Print a table of the nodes."""
        rows = [[n.op, n.name, pretty_target(n), str(n.args), str(n.kwargs)] for n in self.nodes]
        print(table(["opcode", "name", "target", "args", "kwargs"], rows))

    def __str__(self):
        return "\n    ".join(["graph():", *map(format_node, self.nodes)])


def refuse_options(**options):
    """NotImplementedError for an option that is on."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"python_code({name}={value!r}): generated code has no tensor metadata, colours "
                                      "or records here; viz.fx shows shapes")


def has_attribute(module, target):
    """Whether a module has something at a qualified name."""
    for atom in target.split("."):
        if not hasattr(module, atom):
            return False
        module = getattr(module, atom)
    return True


def table(head, rows):
    """Rows as text in columns under a head."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(["  ".join([cell.ljust(width) for cell, width in zip(line, widths)]).rstrip()
                      for line in lines])
