"""`Proxy`: stands for a value while a function is traced, and notes whatever is done to it."""
import dataclasses
import operator
import sys
import traceback

from ..ops.declare import exports
from ..overrides import resolve_name
from .node import Node, map_aggregate, writes
from .python_calls import as_handed_on

FURTHER = "See https://pytorch.org/docs/stable/fx.html#limitations-of-symbolic-tracing"


class TraceError(ValueError):
    """What was traced depends on values that are not there while tracing."""


class NumberNotKnown(TraceError, TypeError):
    """Python asked a traced value for its number: a TypeError, as for any object that is none."""


class Proxy:
    """A value of the traced function: its `node` in the graph that `tracer` fills."""

    def __init__(self, node, tracer=None):
        self.node = node
        self.tracer = tracer if tracer is not None else GraphAppender(node.graph)

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        return Attribute(self, name)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        unpacked = unpacked_length()
        if unpacked is not None:
            return iter([self[i] for i in range(unpacked)])
        return self.tracer.iter(self)

    def __bool__(self):
        if self.tracer.trace_asserts and is_asserted():
            self.tracer.create_proxy("call_function", exports[""]["_assert"],
                                     (self, "the assertion of the traced code"), {})
            return True
        return self.tracer.to_bool(self)

    def __index__(self):
        raise NumberNotKnown("symbolically traced variables cannot be used as indices, sizes or counts of "
                             "Python's own "
                         f"functions, such as range() or int(){at_line()}. {FURTHER}")

    def __int__(self):
        raise NumberNotKnown("int() of a symbolically traced value asks for its number, which is not "
                             f"there{at_line()}. "
                         f"Keep the tensor, or leave the module that asks to a leaf. {FURTHER}")

    def __float__(self):
        raise NumberNotKnown("float() of a symbolically traced value asks for its number, which is not "
                             f"there{at_line()}. "
                         f"Keep the tensor, or leave the module that asks to a leaf. {FURTHER}")

    def __len__(self):
        raise RuntimeError(f"'len' is not supported in symbolic tracing by default{at_line()}. If you want "
                           "this call to be recorded, please call torch.fx.wrap('len') at module scope")

    def __contains__(self, item):
        raise TraceError("'in' asks a symbolically traced value for its elements, which are not "
                         f"there{at_line()}. {FURTHER}")

    def keys(self):
        """What `**proxy` asks for."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tracer = tracer_of((args, kwargs))
        if is_method_only(func):
            return tracer.create_proxy("call_method", func.__name__.strip("_"), args, kwargs)
        return tracer.create_proxy("call_function", func, *as_handed_on(func, args, kwargs))


class Attribute(Proxy):
    """`proxy.name`: becomes a node when used as a value; if it is called, the call is one node."""

    def __init__(self, root, name):
        self.root = root
        self.name = name
        self.tracer = root.tracer
        self._node = None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.name), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.name, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter while it is traced with `param_shapes_constant`: its shape is known, and asking for it is no node."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        return self.param.shape

    @property
    def ndim(self):
        return self.param.ndim

    def size(self):
        """The shape."""
        return self.param.size()

    def dim(self):
        """The number of dimensions."""
        return self.param.dim()

    def numel(self):
        """The number of elements."""
        return self.param.numel()

    nelement = numel


def is_method_only(function):
    """Whether a public function exists as a method of Tensor alone, like `Tensor.view`."""
    name = resolve_name(function)
    return name is not None and name.startswith("torch.Tensor.")


def tracer_of(arguments):
    """The tracer of the proxies among arguments. RuntimeError if they are of several."""
    found = {}
    map_aggregate(arguments, lambda a: found.setdefault(id(a.tracer), a.tracer) if isinstance(a, Proxy)
                  else a)
    if len(found) > 1:
        raise RuntimeError(f"Found multiple different tracers {list(found.values())} while trying to trace operations")
    return next(iter(found.values()))


# ---- Python's operators ----------------------------------------------------------------------------------

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift",
          "rshift")
OTHERS = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "invert", "abs", "getitem")
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor")


def noting(function):
    """A special method that notes a call of `function`."""
    def special(self, *rest):
        return self.tracer.create_proxy("call_function", function, (self, *rest), {})
    return special


def noting_reflected(function):
    def special(self, other):
        return self.tracer.create_proxy("call_function", function, (other, self), {})
    return special


for _name in BINARY + OTHERS:
    setattr(Proxy, f"__{_name.strip('_')}__", noting(getattr(operator, _name)))
for _name in BINARY:
    setattr(Proxy, f"__r{_name.strip('_')}__", noting_reflected(getattr(operator, _name)))


def __setitem__(self, index, value):
    raise TypeError(f"'Proxy' object does not support item assignment{at_line()}: write it as an operator, "
                    "such as torch.index_put, torch.where or slice_scatter")


def __delitem__(self, index):
    raise TypeError(f"'Proxy' object doesn't support item deletion{at_line()}")


Proxy.__setitem__ = __setitem__
Proxy.__delitem__ = __delitem__
Proxy.__hash__ = object.__hash__


# ---- what the traced code says ---------------------------------------------------------------------------

def at_line():
    """", at FILE:LINE: `the code there`": where in the user's code the present call stands."""
    frame = user_frame()
    if frame is None:
        return ""
    return f" (at {frame.filename}:{frame.lineno}: `{frame.line}`)" if frame.line else \
        f" (at {frame.filename}:{frame.lineno})"


def user_frame():
    """The innermost frame outside of this library."""
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    while frame is not None and (frame.f_globals.get("__name__", "").partition(".")[0] == package
                                 # written out by ops/ and autograd/
                                 or frame.f_code.co_filename.startswith(("<operator ", "<Autograd kernel "))):
        frame = frame.f_back
    return None if frame is None else traceback.extract_stack(frame, limit=1)[0]


def unpacked_length():
    """How many names `a, b = proxy` unpacks to, if that is what the caller of the iterator does."""
    frame = sys._getframe(2)
    code, at = frame.f_code.co_code, frame.f_lasti
    import dis

    if dis.opname[code[at]] == "UNPACK_SEQUENCE":
        return code[at + 1]
    return None


def is_asserted():
    """Whether the caller of `bool()` is an assert statement: its failure loads AssertionError."""
    import dis

    frame = sys._getframe(2)
    following = [i for i in dis.get_instructions(frame.f_code) if i.offset >= frame.f_lasti][:4]
    return any(i.opname == "LOAD_ASSERTION_ERROR" for i in following)


class TracerBase:
    """What a Proxy asks of its tracer: turn calls into nodes, and say what cannot be traced."""

    graph = None
    record_stack_traces = False
    check_mutable_operations = False      # whether calls that change an argument are refused
    trace_asserts = False
    proxy_buffer_attributes = False       # whether a module's buffers become nodes
    traced_func_name = "forward"
    module_stack = {}                     # {name: (name, class)} of the modules that are being called, outermost first

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """A node of the graph. Override to look at each one."""
        if kind == "call_function" and self.check_mutable_operations:
            refuse_mutation(target, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self.module_stack:
            node.meta["nn_module_stack"] = dict(self.module_stack)
        if self.record_stack_traces:
            frame = user_frame()
            if frame is not None:
                node.stack_trace = (f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n'
                                f'    {frame.line}\n')
        return node

    def proxy(self, node):
        """The proxy of a node. Override to hand out another class."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """A node for a call, and its proxy, made by `proxy_factory_fn(node)` if that is given."""
        args, kwargs = self.create_arg(tuple(args)), self.create_arg(dict(kwargs))
        node = self.create_node(kind, target, args, dict(kwargs), name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a):
        """An argument of a call as a node's argument. NotImplementedError for what a graph cannot hold."""
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            parts = tuple([self.create_arg(part) for part in a])
            return self.create_node("call_function", type(a), parts, {})
        if isinstance(a, tuple) and not isinstance(a, CONSTANTS):
            return tuple([self.create_arg(part) for part in a])
        if isinstance(a, list):
            return [self.create_arg(part) for part in a]
        if isinstance(a, dict):
            return {self.create_key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(*[self.create_arg(part) for part in (a.start, a.stop, a.step)])
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            parts = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), parts)
        return self.create_item(a)

    def create_key(self, key):
        """A key of a dict."""
        if isinstance(key, Proxy):
            raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node. "
                               f"Got key: {key}{at_line()}")
        return key

    def create_item(self, item):
        """What is no tuple, list, dict or slice."""
        if isinstance(item, Proxy):
            return item.node
        if isinstance(item, range):
            return range(*[self.create_arg(part) for part in (item.start, item.stop, item.step)])
        is_constant = item is None or item is Ellipsis or isinstance(item, CONSTANTS)
        if isinstance(item, Node) or is_constant or callable(item):
            return item
        raise NotImplementedError(f"argument of type: {type(item)}")

    def to_bool(self, obj):
        """`if proxy:`"""
        raise TraceError("symbolically traced variables cannot be used as inputs to control "
                         f"flow{at_line()}. The branch depends on a value that is not there while tracing: "
                         "fix it with concrete_args, use torch.where, or keep the module that branches as a "
                         f"leaf. {FURTHER}")

    def iter(self, obj):
        """`for item in proxy`, `*proxy`."""
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
                         f"loop or as a *args or **kwargs function argument{at_line()}. {FURTHER}")

    def keys(self, obj):
        """`proxy.keys()`, `**proxy`."""
        return Attribute(obj, "keys")()


def refuse_mutation(target, kwargs):
    """RuntimeError for a call that changes one of its arguments."""
    if writes(getattr(target, "__name__", ""), kwargs):
        raise RuntimeError(f"Tried to trace mutable operation {target}. FX only supports functional code, so "
                           "operations that mutate operands in-place (e.g. via `out` arguments) are not supported")


CONSTANTS = (int, float, complex, str, bytes, bool)


def hold_constants(*types):
    """Let graphs hold values of these types as they are."""
    global CONSTANTS
    CONSTANTS = (*CONSTANTS, *types)


class GraphAppender(TracerBase):
    """The tracer of a Proxy made by hand: appends to the graph of its node."""

    def __init__(self, graph):
        self.graph = graph
