"""What a trace becomes: a Module (or function) that runs the graph, with no Python of the original."""
from ..fx import GraphModule
from ..fx.graph_module import adopt
from ..utils._pytree import tree_flatten, tree_unflatten


class ScriptModule(GraphModule):
    """A traced program with its parameters and buffers, which it shares with what was traced.

    `graph`: typed text, one line for each operator. `code`: Python. `history`: what passes did, if any ran.
    The graph can be changed as any fx graph; then call `recompile()`.
    """

    def __init__(self, attributes, graph, in_spec, out_spec, class_name="ScriptModule"):
        self.__dict__["in_spec"], self.__dict__["out_spec"] = in_spec, out_spec
        super().__init__(attributes, graph, class_name)
        self.__dict__["history"] = []
        self.__dict__["methods"] = {}          # traced besides forward: name -> ScriptFunction

    def add_method(self, name, function):
        """Another traced method of the same module, which users call by its name."""
        self.methods[name] = self.__dict__[name] = function
        held = {name for name, _ in (*self.named_parameters(), *self.named_buffers())}
        for path, t in (*function.module.named_parameters(), *function.module.named_buffers()):
            if path not in held:
                adopt(self, {path: t}, path)

    @property
    def inlined_graph(self):
        """The same: nothing calls another graph."""
        return self.graph

    def recompile(self):
        """Write the graph to Python anew; the arguments are flattened before, the results nested after."""
        GraphModule.recompile(self)
        flat = type(self).forward

        def forward(self, *args, **kwargs):
            leaves, spec = tree_flatten((args, kwargs))
            if spec != self.in_spec:
                raise RuntimeError("the arguments are nested otherwise than the traced ones: the trace takes "
                                   f"{self.in_spec.num_leaves} tensors")
            return tree_unflatten(list(flat(self, *leaves)), self.out_spec)
        type(self).forward = forward

    def save(self, f):
        """Write it to a file: see `jit.save`."""
        from .archive import save

        if self.methods:
            raise RuntimeError(f"a file holds forward alone, and this module has {', '.join(self.methods)} "
                               "besides: trace and save them one by one")
        save(self, f)

    def __str__(self):
        return f"{type(self).__name__}(traced, {len(self.graph.calls())} operators)"

    __repr__ = __str__


class ScriptFunction:
    """A traced function. `module`: the ScriptModule that runs it."""

    def __init__(self, module):
        self.module = module

    def __call__(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @property
    def graph(self):
        """The graph, typed text."""
        return self.module.graph

    inlined_graph = graph

    @property
    def code(self):
        """The graph as Python."""
        return self.module.code

    def save(self, f):
        """Write it to a file: see `jit.save`."""
        self.module.save(f)
