"""`Tracer`: runs a function on proxies, so that its calls become a graph."""
import builtins
import functools
import inspect
import itertools
import math
import sys
import types
import warnings
from contextlib import ExitStack, contextmanager

from ..core.device import device
from ..core.dtype import dtype
from ..core.layout import layout, memory_format
from ..nn import Module, ModuleDict, ModuleList, Parameter, Sequential
from ..ops.declare import exports
from ..tensor import Size, Tensor
from ..utils._pytree import tree_flatten, tree_map
from .codegen import PyTreeCodeGen
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate
from .proxy import ParameterProxy, Proxy, TracerBase, hold_constants, tracer_of

hold_constants(dtype, device, layout, memory_format, Size)
CONTAINERS = (Sequential, ModuleList, ModuleDict)       # calling one is calling what is in it
NN = (__name__.partition(".")[0] + ".nn", "torch.nn")


class Tracer(TracerBase):
    """Turns a Module or function into a Graph: `Tracer().trace(root)`.

    Modules that come with PyTorch are leaves: their call is one node. Override `is_leaf_module` to change
    that. Each node's meta["nn_module_stack"] says which modules were being called.

    Args:
        autowrap_modules, autowrap_functions: functions whose calls become nodes.
        param_shapes_constant: let code branch on the shapes of parameters; they are written into the graph.
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self.param_shapes_constant = param_shapes_constant
        functions = [f for module in autowrap_modules for f in vars(module).values() if callable(f)]
        self.autowrapped = {id(f): f for f in (*functions, *autowrap_functions)}
        self.autowrap_modules = tuple(autowrap_modules)

    # ---- to override -------------------------------------------------------------------------------------

    def is_leaf_module(self, m, module_qualified_name):
        """Whether a call of this submodule is one node: those of nn are, containers and the user's own are not."""
        home = type(m).__module__
        return home.startswith(NN) and not isinstance(m, CONTAINERS)

    def call_module(self, m, forward, args, kwargs):
        """A submodule is called: note it if it is a leaf, else go into its `forward`."""
        name = self.path_of_module(m)
        with self._inside(name, type(m)):
            if not self.is_leaf_module(m, name):
                return forward(*args, **kwargs)
            return self.create_proxy("call_module", name, args, kwargs)

    @contextmanager
    def _inside(self, name, kind):
        """While a module is called it stands in `module_stack`: "lin", and "lin@1" the second time."""
        times = self._calls.get(name, 0)
        self._calls[name] = times + 1
        key = f"{name}@{times}" if times else name
        self.module_stack[key] = (name, kind)
        try:
            yield
        finally:
            del self.module_stack[key]

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """An attribute of a module is read while tracing: a parameter becomes a get_attr node.

        Buffers do with `proxy_buffer_attributes`; else what is computed from them alone is computed now, once
        for all.
        """
        is_parameter = isinstance(attr_val, Parameter)
        is_held = is_parameter or self.proxy_buffer_attributes and isinstance(attr_val, Tensor)
        if not is_held or id(attr_val) not in self.tensor_names:
            return attr_val
        name = self.tensor_names[id(attr_val)]
        if name not in parameter_proxy_cache:
            factory = self._parameter_proxy(name, attr_val) if is_parameter and self.param_shapes_constant else None
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=factory)
        return parameter_proxy_cache[name]

    def _parameter_proxy(self, name, parameter):
        return lambda node: ParameterProxy(self, node, name, parameter)

    def path_of_module(self, mod):
        """The qualified name of a submodule. NameError if the root does not hold it."""
        name = self.module_names.get(id(mod))
        if name is None:
            raise NameError(f"module is not installed as a submodule: give this {type(mod).__name__} a name "
                            "in the traced module, so that the graph can call it")
        return name

    # ---- arguments ---------------------------------------------------------------------------------------

    def create_item(self, item):
        if isinstance(item, Parameter) or isinstance(item, Tensor):
            return self.tensor_node(item)
        if isinstance(item, Module) and id(item) in self.module_names:
            return self.create_node("get_attr", self.module_names[id(item)], (), {})
        return super().create_item(item)

    def tensor_node(self, t):
        """A get_attr node for a tensor that the code holds: the root's own, or a constant put there."""
        name = self.tensor_names.get(id(t))
        if name is None:
            if isinstance(t, Parameter):
                raise NameError("parameter is not a member of this module")
            name = self.get_fresh_qualname("_tensor_constant")
            setattr(self.root, name, t)
            self.tensor_names[id(t)] = name
        return self.create_node("get_attr", name, (), {})

    def get_fresh_qualname(self, prefix):
        """A name for something put into the root: the prefix and the first number that is free."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    # ---- tracing -----------------------------------------------------------------------------------------

    def trace(self, root, concrete_args=None):
        """The graph of `root`, a Module or a function. `concrete_args`: {parameter: value that it is to have}."""
        self.root = root if isinstance(root, Module) else Module()
        self.module_names = {id(m): name for name, m in self.root.named_modules()}
        self.tensor_names = tensor_names(self.root)
        self.parameter_proxies = {}
        self.module_stack, self._calls = {}, {}
        self.graph = Graph(tracer_cls=type(self))
        function, first = traced_function(root)
        values = self.create_args_for_root(function, first, concrete_args or {})
        with ExitStack() as patches:
            self.patch(patches, function)
            result = self.leaves_of_result(call_traced(root, function, first, values))
            kind = annotations_of(function).get("return")
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=kind)
        return self.graph

    def create_args_for_root(self, function, first, concrete_args):
        """A proxy for each parameter, in the order of the code's variables, or the concrete value it is to have.

        If a concrete value is a container with PH in it, the graph's placeholders are the leaves of all
        arguments.
        """
        parameters = inspect.signature(function).parameters
        names = variables_of_parameters(function)[len(first):]
        concrete_args = named_arguments(concrete_args, names)
        values = [self.argument(parameters[name], concrete_args, annotations_of(function)) for name in names]
        leaves, spec = tree_flatten(tuple(values))
        if any([not is_leaf(value) for value in values]):
            self.graph.set_codegen(PyTreeCodeGen(names, spec))
        return values

    def leaves_of_result(self, result):
        """The result as the graph returns it: flat, if the arguments are."""
        if not isinstance(self.graph._codegen, PyTreeCodeGen):
            return result
        leaves, self.graph._codegen.out_spec = tree_flatten(result)
        return leaves

    def argument(self, parameter, concrete_args, annotations):
        """What the function gets for one parameter: a proxy, a concrete value, or a container of both."""
        name = parameter.name
        default = () if parameter.default is parameter.empty else (parameter.default,)
        if name in concrete_args:
            numbers = itertools.count(1)
            return tree_map(lambda leaf: self.concrete(f"{name}_{next(numbers)}", name, leaf, default),
                            concrete_args[name])
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        return self.create_proxy("placeholder", stars + name, default, {}, type_expr=annotations.get(name))

    def concrete(self, place, name, value, default):
        """One leaf of a concrete argument: a proxy for PH; else the value, and a node that checks it."""
        proxy = self.create_proxy("placeholder", place, default, {})
        if isinstance(value, PHBase):
            return proxy
        message = f"{name} has been specialized to have value {value} but got another value"
        if isinstance(value, (bool, int, float, complex, str)):
            self.create_proxy("call_function", exports[""]["_assert"], (proxy == value, message), {})
        elif value is None:
            self.create_proxy("call_function", _assert_is_none, (proxy, message), {})
        else:
            warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to specialized "
                          "function. It is up to the user to make sure that your inputs match the inputs you "
                          "specialized the function with.", stacklevel=2)
        return value

    def patch(self, patches, function):
        """While tracing, calls of modules, reads of their parameters and calls of wrapped functions come here."""
        plain_call, plain_getattr = Module.__call__, Module.__getattr__

        def call(module, *args, **kwargs):
            forward = functools.partial(plain_call, module)
            return self.call_module(module, forward, args, kwargs)

        def read(module, name):
            return self.getattr(name, plain_getattr(module, name), self.parameter_proxies)

        patches.enter_context(replaced(Module, "__call__", call))
        patches.enter_context(replaced(Module, "__getattr__", read))
        for scope, name in self.places_of_wrapped(function):
            patches.enter_context(replaced_in(scope, name, self.noting(scope[name])))

    def places_of_wrapped(self, function):
        """Where functions stand that are to be noted: the traced function's globals, the modules of
        autowrap_modules, and what `wrap` named."""
        for scope in (function.__globals__, *map(vars, self.autowrap_modules)):
            for name, value in list(scope.items()):
                if callable(value) and id(value) in self.autowrapped:
                    yield scope, name
        for scope, name in wrapped_names:
            if name in scope or hasattr(builtins, name):
                scope.setdefault(name, getattr(builtins, name, None))
                yield scope, name

    def noting(self, function):
        """A function whose calls with proxies among the arguments become nodes."""
        @functools.wraps(function)
        def noted(*args, **kwargs):
            if has_proxy((args, kwargs)):
                return self.create_proxy("call_function", function, args, kwargs)
            return function(*args, **kwargs)
        return noted


# ---- the traced function ---------------------------------------------------------------------------------

def traced_function(root):
    """A Python function, and what its first parameters are bound to."""
    if isinstance(root, Module):
        root = root.forward
    if inspect.ismethod(root):
        return inspect.unwrap(root.__func__), [root.__self__]
    root = inspect.unwrap(root)
    if not inspect.isfunction(root) or (root.__module__
                                        or "").startswith(f"{__name__.partition('.')[0]}.ops."):
        raise AssertionError(f"Expected FunctionType, got {type(root)}: what is traced is a Module or a "
                             "Python function; put others into a lambda")
    return root, []


def annotations_of(function):
    return getattr(function, "__annotations__", {})


def named_arguments(concrete_args, names):
    """{parameter: value}; a tuple holds a value for each parameter."""
    if isinstance(concrete_args, dict):
        return concrete_args
    if len(concrete_args) != len(names):
        raise RuntimeError(f"Tracing expected {len(names)} arguments but got {len(concrete_args)} concrete "
                           "arguments")
    return dict(zip(names, concrete_args))


def is_leaf(value):
    """Whether a value is no container."""
    leaves, _ = tree_flatten(value)
    return len(leaves) == 1 and leaves[0] is value


def _assert_is_none(value, message):
    """What stands in a graph for an argument that was None while tracing."""
    if value is not None:
        raise AssertionError(message)


class PHBase:
    """The type of PH."""

    def __repr__(self):
        return "PH"


PH = PHBase()               # within concrete_args: this place is an input


def variables_of_parameters(function):
    """The names of a function's parameters in the order of its code's variables: `*args` and `**kwargs` come last."""
    code = function.__code__
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount + stars]


def call_traced(root, function, first, values):
    """Run the traced code; a decorated function runs with its decorators, on the parameters of what they decorate."""
    outer = root.forward if isinstance(root, Module) else root
    outer = getattr(outer, "__func__", outer)
    if outer is function:
        return without_stars(function)(*first, *values)
    code = function.__code__
    names = variables_of_parameters(function)[len(first):]
    keywords = names[code.co_argcount - len(first):code.co_argcount - len(first) + code.co_kwonlyargcount]
    by_name = dict(zip(names, values))
    return outer(*first, *[by_name[n] for n in names if n not in keywords],
                 **{n: by_name[n] for n in keywords})


def without_stars(function):
    """The same code with every parameter positional, so that one proxy can stand for all of `*args`."""
    code, count = function.__code__, len(variables_of_parameters(function))
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    plain = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return types.FunctionType(plain, function.__globals__, function.__name__, None, function.__closure__)


def tensor_names(root):
    """{id of a tensor: its qualified name}, for parameters, buffers and plain attributes of a module and
    those in it."""
    found = {}
    for prefix, module in root.named_modules():
        for held in (module._parameters, module._buffers, vars(module)):
            for name, value in held.items():
                if isinstance(value, Tensor):
                    found.setdefault(id(value), f"{prefix}.{name}".lstrip("."))
    return found


def has_proxy(arguments):
    found = []
    map_aggregate(arguments, lambda a: found.append(a) if isinstance(a, Proxy) else a)
    return bool(found)


@contextmanager
def replaced(owner, name, value):
    """An attribute of a class with another value, for the length of the block."""
    had, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before) if had else delattr(owner, name)


@contextmanager
def replaced_in(scope, name, value):
    """The same for an entry of a dict."""
    before = scope[name]
    scope[name] = value
    try:
        yield
    finally:
        scope[name] = before


# ---- what users call -------------------------------------------------------------------------------------

wrapped_names = []                     # (globals of a module, name) that `wrap` was told of


def wrap(fn_or_name):
    """At module level: calls of this function become nodes instead of being traced through. Also a decorator."""
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    wrapped_names.append((frame.f_globals, name))
    return fn_or_name


class ProxyableClassMeta(type):
    """A metaclass of classes whose constructor calls, with proxies among the arguments, become nodes."""

    def __call__(cls, *args, **kwargs):
        if not has_proxy((args, kwargs)):
            return super().__call__(*args, **kwargs)
        return tracer_of((args, kwargs)).create_proxy("call_function", cls, args, kwargs)


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what `root` (a Module or function) does. `concrete_args`: {parameter: value}.

    TraceError, naming the line, where the code asks a traced value for what is known only when it runs.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
