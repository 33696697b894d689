"""`Interpreter`: runs a graph node by node; `Transformer`: an Interpreter whose values are proxies of a new graph."""
from ..nn import Module
from .graph import Graph
from .graph_module import GraphModule
from .node import map_arg
from .proxy import Proxy
from .tracer import Tracer


class Interpreter:
    """Runs `module.graph`. Override a method to change what a kind of node does: `call_function(target, args, kwargs)`.

    `env`: {node: its value} while it runs; with `garbage_collect_values` a value is forgotten after its last
    use.
    """

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.graph = graph if graph is not None else module.graph
        self.submodules = dict(module.named_modules())
        self.garbage_collect_values = garbage_collect_values
        self.last_uses = values_to_forget(self.graph) if garbage_collect_values else {}
        self.env = {}
        self.name = "Interpreter"

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """The graph's output for these inputs. `initial_env`: {node: value} that are not to be computed."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._run_at(node)
            if node.op == "output":
                found = self.env[node]
                return self.graph.process_outputs(found) if enable_io_processing else found
            for used in self.last_uses.get(node, ()):
                self.env.pop(used, None)
        return None

    def _run_at(self, node):
        """`run_node`, with the node named in the error if it fails."""
        try:
            return self.run_node(node)
        except Exception as error:
            where = f"While executing {node.format_node()}"
            if node.stack_trace:
                where += f"\nOriginal traceback:\n{node.stack_trace}"
            error.args = (f"{error.args[0]}\n\n{where}" if error.args else where, *error.args[1:])
            if isinstance(error, KeyError):                   # it would show its text in quotes
                raise RuntimeError(*error.args) from error
            raise

    def boxed_run(self, args_list):
        """`run`, with the arguments in a list, which is emptied so that nobody else holds them."""
        values = iter(args_list)
        env = {node: next(values) for node in self.graph.nodes if node.op == "placeholder"}
        del values
        args_list.clear()
        return self.run(initial_env=env)

    def run_node(self, n):
        """The value of one node: the method named like its op."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n):
        """The node's arguments, with values in the place of nodes."""
        args, kwargs = self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)
        return args, kwargs

    def map_nodes_to_values(self, args, n):
        """`args` with each node in them replaced by its value, for the node `n`."""
        def value(node):
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to "
                                   "diagnose such issues")
            return self.env[node]
        return map_arg(args, value)

    # ---- one method for each op --------------------------------------------------------------------------

    def placeholder(self, target, args, kwargs):
        """The next input; its default if there is none."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed "
                               "in!") \
                from None

    def get_attr(self, target, args, kwargs):
        """The module's attribute."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """target(*args, **kwargs)"""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """args[0].target(*args[1:], **kwargs)"""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        """The submodule's value."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        """What the graph returns."""
        return args[0]

    def fetch_attr(self, target):
        """What stands at a qualified name of the module. RuntimeError if nothing does."""
        place = self.module
        for i, atom in enumerate(target.split(".")):
            if not hasattr(place, atom):
                so_far = ".".join(target.split(".")[:i + 1])
                raise RuntimeError(f"Node referenced nonexistent target {so_far}")
            place = getattr(place, atom)
        return place


def values_to_forget(graph):
    """{node: the nodes whose values nobody needs once it has run}."""
    found, seen = {}, set()
    for node in reversed(graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(node, []).append(used)
    return found


class Transformer(Interpreter):
    """Makes a new GraphModule from an old one: override a method to return other calls on proxies."""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = TransformerTracer(self.new_graph, module)

    def placeholder(self, target, args, kwargs):
        return Proxy(self.new_graph.placeholder(target, None, *args[:1]), self.tracer)

    def get_attr(self, target, args, kwargs):
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target, args, kwargs):
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def transform(self):
        """The new GraphModule."""
        result = self.run()
        if result is not None:
            self.new_graph.output(self.tracer.create_arg(result))
        return GraphModule(self.module, self.new_graph)


class TransformerTracer(Tracer):
    """Notes what a Transformer's methods call; every submodule is a leaf, since it was one."""

    def __init__(self, graph, root):
        super().__init__()
        self.graph = graph
        self.root = root if isinstance(root, Module) else Module()
        self.tensor_names, self.module_names = {}, {}

    def is_leaf_module(self, m, module_qualified_name):
        return True


