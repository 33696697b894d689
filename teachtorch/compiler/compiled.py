"""`torch.compile`: a function that captures what it does, and runs what was captured when it is called alike again.

    call  →  the guards of each graph that was captured, the latest first  →  the graph's kernels
          →  none holds: capture anew, at most LIMIT times; then the function runs as it is
          →  what cannot be captured runs as it is, and `explain` says where and why; of a training step, which fills
             gradients and moves parameters, the modules are captured one by one
"""
import functools
import warnings
import weakref

from ..core import observer
from ..dispatch.state import state
from ..nn import Module
from ..nn.hooks import replacing_forward
from ..utils._pytree import tree_unflatten
from . import backends
from .capture import DoneAround, NotCapturable, capture
from .environment import Environment
from .guards import Guards
from .training import Training

LIMIT = 8                               # graphs of one function, as PyTorch's recompile_limit
LIMIT_OF_SHAPES = 256                   # with dynamic=True, as its accumulated limit
everything = []                         # weak references to all Compiled, for reset()


class Unsupported(RuntimeError):
    """fullgraph=True, and something cannot be captured."""


class Entry:
    """One captured graph, or the reason why there is none, and the guards under which it serves."""

    def __init__(self, guards, run=None, captured=None, reason=None):
        self.guards, self.run, self.captured, self.reason = guards, run, captured, reason


class Compiled:
    """A compiled function. `entries`: what was captured so far, the latest first."""

    def __init__(self, function, fullgraph, dynamic, backend):
        self.function = function
        self.fullgraph, self.dynamic, self.backend = fullgraph, dynamic, backend
        backends.find(backend, ())
        self.entries = []
        self.refusal = None             # why nothing at all can be captured
        self.models = None              # of a training step: its Models
        self.is_at_limit = False
        self.is_capturing = False

    def __call__(self, *args, **kwargs):
        for entry in self.entries:
            if entry.guards.check(args, kwargs):
                if entry.run is None:
                    return self.run_eagerly(entry.reason, args, kwargs)
                return entry.run(args, kwargs)
        return self.miss(args, kwargs)

    def run_eagerly(self, reason, args, kwargs):
        """The function as it is; Unsupported with fullgraph=True if there was a `reason` not to capture it."""
        if self.fullgraph and reason is not None:
            raise Unsupported(f"{reason}\n\nfullgraph=True asks for one graph of the whole function. Move "
                              "what cannot be captured out of it, or leave fullgraph out: then the function "
                              "runs without a graph")
        if self.models is None or reason is None:
            return self.function(*args, **kwargs)
        with replacing_forward(self.models.compiled):
            return self.function(*args, **kwargs)

    def miss(self, args, kwargs):
        """No graph serves this call: capture one."""
        if self.refusal is not None or self.is_capturing or is_inside_a_mode():
            return self.run_eagerly(self.refusal, args, kwargs)
        if len(self.entries) >= (LIMIT_OF_SHAPES if self.dynamic else LIMIT):
            self.warn_of_limit(args, kwargs)
            return self.function(*args, **kwargs)
        if self.entries:
            report("recompile", name=name_of(self.function),
                   reason=self.entries[0].guards.first_failure(args, kwargs))
        entry = self.captured(args, kwargs)
        if entry is None:
            return self.run_eagerly(self.refusal, args, kwargs)
        self.entries.insert(0, entry)
        if entry.run is None:
            return self.run_eagerly(entry.reason, args, kwargs)
        return entry.run(args, kwargs)

    def warn_of_limit(self, args, kwargs):
        """Warn, once, that the function was captured too often."""
        if not self.is_at_limit:
            self.is_at_limit = True
            reason = self.entries[0].guards.first_failure(args, kwargs)
            report("limit", name=name_of(self.function), reason=reason)
            warnings.warn(f"torch.compile: {name_of(self.function)} was captured {len(self.entries)} times, "
                          "the limit; it now runs without a graph. The last capture does not serve because "
                          f"of {reason}", UserWarning,
                          stacklevel=4)

    def captured(self, args, kwargs):
        """A new Entry; None if the surroundings alone already forbid one."""
        environment = Environment()
        try:
            environment.visit(self.function, name_of(self.function), lambda: self.function)
        except NotCapturable as reason:
            self.refusal = self.reason_of(reason)
            report("fallback", name=name_of(self.function), reason=self.refusal)
            return None
        return self.entry_for(environment, args, kwargs)

    def entry_for(self, environment, args, kwargs):
        """An Entry for these arguments, with a graph or the reason for none; None if no entry could be told apart."""
        guards = reason = None
        self.is_capturing = True
        try:
            guards = Guards(args, kwargs, environment)
            return self.graph_entry(guards, args, kwargs)
        except NotCapturable as error:
            reason = self.reason_of(error)
            environment.put_back()
        finally:
            self.is_capturing = False
        report("fallback", name=name_of(self.function), reason=reason)
        if guards is None or environment.has_changed:
            self.refusal = reason
            return None
        return Entry(guards, reason=reason)

    def reason_of(self, error):
        """A NotCapturable in words. What is done around a model leaves the model's forward to be compiled."""
        if isinstance(error, DoneAround) and not (asks_for_second_derivatives(self.function) or self.fullgraph):
            self.models = self.models or Models(self.dynamic, self.backend)
            return f"{error}. The modules that the function calls are compiled one by one"
        return str(error)

    def graph_entry(self, guards, args, kwargs):
        """An Entry with a graph. NotCapturable if the function cannot be captured."""
        environment = guards.environment
        found = capture(self.function, args, kwargs, environment)
        change = environment.first_change()
        if change is not None:
            environment.has_changed = True
            raise NotCapturable(f"the function changes {change}")
        if found.changes_input:
            guards = Guards(args, kwargs, environment, keeps_apart=True)
        report("captured", name=name_of(self.function), graph=found.graph)
        return Entry(guards, self.runner(found, guards), found)

    def runner(self, found, guards):
        """The graph, ready to run. What the compiler itself fails at is a reason to run without a graph, and
        is reported."""
        try:
            return runner(found, guards, self.backend)
        except Exception as error:
            if callable(self.backend):
                raise
            reason = f"the graph could not be compiled, {type(error).__name__}: {error}"
            raise NotCapturable(reason) from error


class Models:
    """The modules that a training step calls, each compiled by itself, as PyTorch does between two graph breaks."""

    def __init__(self, dynamic, backend):
        self.dynamic, self.backend = dynamic, backend
        self.of_module = {}             # id of a module -> its forward, compiled, which holds the module

    def compiled(self, module):
        """What to call instead of the module's forward."""
        if isinstance(module, OptimizedModule) or hasattr(module.forward, "compiled"):
            return module.forward
        if id(module) not in self.of_module:
            self.of_module[id(module)] = Compiled(module.forward, False, self.dynamic, self.backend)
        return self.of_module[id(module)]


def asks_for_second_derivatives(function):
    """Whether the code names `create_graph`: a compiled backward has no graph of its own."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and "create_graph" in repr([code.co_consts, code.co_names])


def runner(captured, guards, backend):
    """run(args, kwargs): the graph's outputs in the form that the function returns them."""
    make = backends.find(backend, [*guards.tensors, *captured.held])
    program = Training(captured, make) if captured.has_backward else make(captured.graph, "forward")
    held, fresh, inputs = captured.held, frozenset(captured.fresh), guards.inputs
    simple = captured.outputs == [("node", 0)] and captured.spec.is_leaf()

    def tensors(args, kwargs):
        if fresh:
            return (*inputs(args, kwargs), *[t.clone() if i in fresh else t for i, t in enumerate(held)])
        return (*inputs(args, kwargs), *held)

    def run(args, kwargs):
        given = tensors(args, kwargs)
        found = program(*given)
        if simple:
            return found[0]
        sources = {"node": found, "constant": None, "input": given}
        leaves = [value if kind == "constant" else sources[kind][value] for kind, value in captured.outputs]
        return tree_unflatten(leaves, captured.spec)

    run.program = program
    return run


def is_inside_a_mode():
    return bool(state.function_modes or state.dispatch_modes)


def report(action, **fields):
    if observer.active:
        observer.report("compile", action=action, **fields)


def name_of(function):
    function = getattr(function, "__func__", function)
    return getattr(function, "__qualname__", None) or type(function).__name__


# ---- the public function -----------------------------------------------------------------------------------

def compile(model=None, *, fullgraph=False, dynamic=None, backend="fused", mode=None, options=None,
            disable=False):
    """A function or module that runs as captured graphs of fused kernels.

    Args:
        model: a function or a Module; None to use this as a decorator with arguments.
        fullgraph: raise Unsupported where something cannot be captured, rather than run without a graph.
        dynamic: True keeps up to 256 graphs for different shapes instead of 8. Kernels do not depend on
            sizes, so a further shape costs a capture, no compilation.
        backend: "fused" ("inductor" means the same), "eager" and "aot_eager" (the captured operators one by
            one), or a function of (GraphModule, example inputs) that returns what to call; it is asked for
            forward, and for backward if there is one.
        mode, options: taken as PyTorch's, and change nothing.
        disable: return the model as it is.

    https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same "
                           "time.")
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                                 options=options, disable=disable)
    if disable:
        return model
    if not callable(model):
        raise RuntimeError(f"torch.compile takes a function or a Module, not {type(model).__name__}")
    if isinstance(model, Module):
        return OptimizedModule(model, Compiled(model, fullgraph, dynamic, backend))
    return wrapped(model, Compiled(model, fullgraph, dynamic, backend))


def wrapped(function, compiled):
    """A function that looks like the one it compiles."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        return compiled(*args, **kwargs)
    call.compiled = compiled
    call._torchdynamo_orig_callable = function
    everything.append(weakref.ref(compiled))
    return call


class OptimizedModule(Module):
    """A module whose calls are compiled. It shares all with the module it was made of, `_orig_mod`."""

    def __init__(self, module, compiled):
        super().__init__()
        self._orig_mod = module
        self.training = module.training
        self.__dict__["compiled"] = compiled
        everything.append(weakref.ref(compiled))

    def forward(self, *args, **kwargs):
        return self.compiled(*args, **kwargs)

    def __getattr__(self, name):
        if name == "_orig_mod":
            return super().__getattr__(name)
        return getattr(self._orig_mod, name)


def compile_module(self, *args, **kwargs):
    """Compile this module's forward in place (Module.compile); arguments as of torch.compile."""
    self.__dict__["forward"] = compile(type(self).forward.__get__(self), *args, **kwargs)


def reset():
    """Forget all graphs (torch._dynamo.reset)."""
    for reference in everything:
        compiled = reference()
        if compiled is not None:
            compiled.entries, compiled.refusal, compiled.models, compiled.is_at_limit = [], None, None, False

