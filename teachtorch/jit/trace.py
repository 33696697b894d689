"""`trace`: one run of a function, noted operator by operator."""
import functools
import operator
import warnings
from contextlib import contextmanager

from ..autograd import no_grad
from ..fx.passes.effects import is_random
from ..fx.proxy import hold_constants, user_frame
from ..core.device import device
from ..core.dtype import dtype
from ..core.layout import layout, memory_format
from ..nn import Module
from ..ops.declare import exports
from ..ops.torch_dispatch import TorchDispatchMode
from ..tensor import Tensor
from ..utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from .graph import Graph, type_of
from .module import ScriptFunction, ScriptModule
from .sizes import plain, sizes_traced, with_nodes
from .warn import TracerWarning, warn, warning_of_lost_values

hold_constants(dtype, device, layout, memory_format)
TOLERANCE = 1e-5
tracing = []                    # the Tracings that are going on


class TracingCheckError(Exception):
    """Tracing the same function twice gave two graphs."""


def is_tracing():
    """Whether a trace is being made."""
    return bool(tracing)


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None,
          check_tolerance=TOLERANCE,
          strict=True, example_kwarg_inputs=None):
    """Run `func` on an example and return what ran as a ScriptModule (of a Module) or ScriptFunction.

    A branch, a loop's length, a Python number computed from a tensor: whatever these inputs led to is frozen, with a
    TracerWarning where a tensor was asked for its value. Sizes, and what is computed of them, are not frozen.
    Deprecated in PyTorch: torch.compile, torch.export.

    Args:
        func: a Module or function of tensors, and of tuples, lists and dicts of tensors; it returns such.
        example_inputs: its arguments, a tuple, or one tensor. They are copied, not changed.
        check_trace: run function and trace again on the example and warn if they differ.
        check_inputs: further tuples of arguments to compare on.
        check_tolerance: how far apart values may be, relative and absolute.
        example_kwarg_inputs: a dict of arguments by keyword, instead of `example_inputs`.

    Raises:
        RuntimeError: an argument or result that is no tensor or container of tensors.
        TracingCheckError: a second trace is another graph.
    """
    warnings.warn("`torch.jit.trace` is deprecated. Please switch to `torch.compile` or `torch.export`.",
                  DeprecationWarning, stacklevel=2)
    inputs = (example_inputs,) if isinstance(example_inputs, (Tensor, dict)) else tuple(example_inputs or ())
    found = traced(func, inputs, example_kwarg_inputs or {})
    if check_trace:
        check(func, found, [inputs, *(check_inputs or [])], example_kwarg_inputs or {}, check_tolerance)
    return found


def trace_module(mod, inputs, optimize=None, check_trace=True, check_inputs=None, check_tolerance=TOLERANCE,
                 strict=True):
    """Trace several methods of a Module; the ScriptModule has them under their names, and parameters are shared.

    Args:
        mod: a Module.
        inputs: {name of a method: its arguments, a tuple, or one tensor}.
        check_trace, check_tolerance: as of `trace`.
        check_inputs: further dicts like `inputs` to compare on.

    Raises:
        AttributeError: `mod` is no Module, or `inputs` no dict.

    `save` writes `forward` alone, and raises RuntimeError if there are other methods.
    """
    warnings.warn("`torch.jit.trace_method` is deprecated. Please switch to `torch.compile` or "
                  "`torch.export`.",
                  DeprecationWarning, stacklevel=2)
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    methods = {}
    for name, given in inputs.items():
        method = getattr(mod, name) if name != "forward" else mod
        args = (given,) if isinstance(given, Tensor) else tuple(given)
        methods[name] = traced(method, args, {}, mod)
        if check_trace:
            more = [further[name] for further in check_inputs or [] if name in further]
            check(method, methods[name], [args, *more], {}, check_tolerance, mod)
    return with_methods(methods, mod)


def with_methods(methods, mod):
    """One ScriptModule of several traced methods: that of forward, with the others beside."""
    found = methods.pop("forward", None)
    if found is None:
        found = ScriptModule({}, Graph(), None, None, type(mod).__name__)
        type(found).forward = Module.forward               # which says that there is none
    for name, method in methods.items():
        found.add_method(name, method)
    found.training = mod.training
    return found


def traced(func, args, kwargs, root=None):
    """The ScriptModule or ScriptFunction of one run. `root`: the Module that holds the tensors, if `func` is
    a method."""
    noted = Tracing(root or func)
    graph, out_spec, in_spec = noted.run(func, args, kwargs)
    name = type(func).__name__ if isinstance(func, Module) else getattr(func, "__name__", "traced")
    module = ScriptModule(noted.attributes, graph, in_spec, out_spec, name)
    if isinstance(func, Module):
        module.training = func.training
        return module
    return functools.update_wrapper(ScriptFunction(module), func, ("__name__", "__qualname__", "__doc__"))


class Tracing(TorchDispatchMode):
    """One trace: the graph that grows, and which tensor which node stands for."""

    def __init__(self, root):
        self.graph = Graph()
        self.root = root
        self.nodes = {}                       # id of a tensor -> its node
        self.alive = []                       # so that no id is used twice
        self.storages = set()                 # where traced values lie
        self.attributes = {}                  # qualified name -> tensor that was there before
        modules = root.named_modules() if isinstance(root, Module) else []
        self.module_names = {id(m): name for name, m in modules}
        self.names = {id(t): name for name, t in held_by(root)}
        self.scopes = []                      # names of the modules whose forward is running

    def run(self, func, args, kwargs):
        """(the graph, the spec of the result, the spec of the arguments)."""
        leaves, in_spec = tree_flatten((args, kwargs))
        check_inputs(leaves)
        copies = [leaf.detach().clone() for leaf in leaves]          # one for each place, even of one tensor
        names = input_names(func, leaves, args)
        for t, name in zip(copies, names):
            self.note(t, self.graph.placeholder(name))
        args, kwargs = tree_unflatten(copies, in_spec)
        with no_grad(), self.listening():
            result = func(*args, **kwargs)
            outputs, out_spec = tree_flatten(result)
            check_outputs(outputs)
            self.graph.output(tuple([self.node_of(t) for t in outputs]))
        self.graph.eliminate_dead_code(lambda node: node.is_impure() or node.op == "placeholder")
        return self.graph, out_spec, in_spec

    @contextmanager
    def listening(self):
        tracing.append(self)
        try:
            with named_scopes(self), warning_of_lost_values(self.is_traced), sizes_traced(self), self:
                yield
        finally:
            tracing.pop()

    def is_traced(self, t):
        return id(t) in self.nodes and self.nodes[id(t)].op != "get_attr"

    # ---- operators ---------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        nodes = tree_map_only(Tensor, self.node_of, (args, kwargs))
        nodes = [with_nodes(a, self) for a in nodes[0]], {k: with_nodes(v, self) for k, v in nodes[1].items()}
        result = func(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
        node = self.graph.call_function(func, tuple(nodes[0]), dict(nodes[1]))
        node.meta["scope"] = self.scopes[-1] if self.scopes else ""
        frame = user_frame()
        node.meta["line"] = f"{frame.filename}:{frame.lineno}" if frame is not None else ""
        self.note_result(result, node)
        return result

    def note_result(self, result, node):
        """Remember the node of each tensor that an operator returned; an in-place one returns one that has a node."""
        if isinstance(result, Tensor):
            node.meta.setdefault("type", type_of(result))
            if id(result) not in self.nodes:
                self.note(result, node)
        elif isinstance(result, (tuple, list)):
            node.meta["type"] = "(" + ", ".join([type_of(t) for t in result]) + ")"
            for i, t in enumerate(result):
                if isinstance(t, Tensor):
                    self.note(t, self.graph.call_function(operator.getitem, (node, i)))

    def note(self, t, node):
        node.meta["type"] = type_of(t)
        self.nodes[id(t)] = node
        self.alive.append(t)
        if t.numel():
            self.storages.add(t.untyped_storage().data_ptr())

    def node_of(self, t):
        """The node of a tensor: what made it; for one from outside, an attribute of the traced module."""
        if id(t) not in self.nodes:
            if t.numel() and t.untyped_storage().data_ptr() in self.storages:
                raise RuntimeError("a tensor shares the memory of a traced value but was made by no "
                                   "operator: the trace cannot follow it (.data, or NumPy, does this)")
            name = self.names.get(id(t)) or f"_constant{len(self.attributes)}"
            self.attributes[name] = t
            with self.graph.inserting_before(self.first_call()):
                node = self.graph.get_attr(name)
            node.meta["type"] = type_of(t)
            self.nodes[id(t)] = node
            self.alive.append(t)
        return self.nodes[id(t)]

    def first_call(self):
        return next((n for n in self.graph.nodes if n.op not in ("placeholder", "get_attr")),
                    None) or self.graph._root


@contextmanager
def named_scopes(noted):
    """Within the block, calls of modules note whose forward is running."""
    plain = Module.__call__

    def call(module, *args, **kwargs):
        noted.scopes.append(noted.module_names.get(id(module), ""))
        try:
            return plain(module, *args, **kwargs)
        finally:
            noted.scopes.pop()
    Module.__call__ = call
    try:
        yield
    finally:
        Module.__call__ = plain


# ---- inputs and outputs ----------------------------------------------------------------------------------

def held_by(root):
    """(qualified name, tensor) for parameters and buffers."""
    return [*root.named_parameters(), *root.named_buffers()] if isinstance(root, Module) else []


def input_names(func, leaves, args):
    """The parameters' names if each argument is one tensor, else input_0, input_1..."""
    code = getattr(getattr(func, "forward", func), "__code__", None)
    if code is not None and all([isinstance(a, Tensor) for a in args]) and len(args) == len(leaves):
        skip = 1 if isinstance(func, Module) or hasattr(func, "__self__") else 0
        names = code.co_varnames[skip:code.co_argcount]
        if len(names) >= len(leaves):
            return names[:len(leaves)]
    return [f"input_{i}" for i in range(len(leaves))]


def check_inputs(leaves):
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Type '{type(leaf).__name__}' cannot be traced. Only Tensors and (possibly "
                               "nested) Lists, Dicts, and Tuples of Tensors can be traced")


def check_outputs(leaves):
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError("Only tensors, lists, tuples of tensors, or dictionary of tensors can be "
                               f"output from traced functions, not {type(leaf).__name__}")


# ---- the check -------------------------------------------------------------------------------------------

def check(func, found, all_inputs, kwargs, tolerance, root=None):
    """Compare the trace with a second one, and with the function, on each tuple of inputs."""
    module = found if isinstance(found, ScriptModule) else found.module
    random_nodes = [n for n in module.graph.nodes if is_random(n)]
    if random_nodes:
        lines = "\n\t".join([module.graph.line(n) for n in random_nodes])
        warn("Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n\t" + lines
             + "\nThis may cause errors in trace checking. To disable trace checking, pass check_trace=False "
               "to torch.jit.trace()")
    for args in all_inputs:
        args = (args,) if isinstance(args, Tensor) else tuple(args)
        compare_graphs(func, module, args, kwargs, root)
        compare_values(func, found, args, kwargs, tolerance)


def compare_graphs(func, module, args, kwargs, root):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)             # said the first time
        again = traced(func, args, kwargs, root)
    again = again if isinstance(again, ScriptModule) else again.module
    first, second = [m.graph.shape_free() for m in (module, again)]
    if first != second:
        lines = [f"- {a}\n+ {b}" for a, b in zip(first, second) if a != b] or ["one is longer"]
        raise TracingCheckError("Tracing failed sanity checks!\nERROR: Graphs differed across invocations!\n"
                                + "\n".join(lines[:5]))


def compare_values(func, found, args, kwargs, tolerance):
    def copies():
        return tree_map_only(Tensor, lambda t: t.detach().clone(), (args, kwargs))
    allclose = exports[""]["allclose"]
    with no_grad():
        outputs = []
        for run in (func, found):
            a, k = copies()
            outputs.append(tree_flatten(run(*a, **k))[0])
    for number, (theirs, ours) in enumerate(zip(*outputs), 1):
        if theirs.shape != ours.shape or not allclose(theirs, ours, rtol=tolerance, atol=tolerance,
                                                      equal_nan=True):
            warn(f"Output nr {number}. of the traced function does not match the corresponding output of the "
                 f"Python function. Detailed error:\nTensor-likes are not close! {theirs.flatten()[:3]} and "
                 f"{ours.flatten()[:3]}")
