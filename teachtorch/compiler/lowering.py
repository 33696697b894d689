"""From operators to values that kernels can compute: each operator is taken apart, or stays a call.

An operator is taken apart by a rule in `rules.py`, by its one-element function if its declaration has one,
else it is a Call. What memory is changed under, or is computed in a dtype that kernels have not, is left to
calls as well.
"""
import operator

from ..core import dtype as dt
from ..core import geometry
from ..dispatch.operator import registry
from ..fx.node import Node, map_aggregate
from ..kernels.codegen import Translator
from ..ops.elementwise import compute_dtype
from ..tensor import Tensor, meta_tensor, stride_of
from .effects import changed_arguments, is_random, is_view
from .ir import Call, Input, Pointwise, Reduce, Several, Value

KERNEL_DTYPES = (dt.bool, dt.uint8, dt.int8, dt.int16, dt.int32, dt.int64, dt.float32, dt.float64)


class Lowering:
    """Lowers one graph. `values`: {fx node: Value}; equal computations become one value."""

    def __init__(self, graph):
        self.graph = graph
        self.values = {}
        self.known = {}                     # (what, operands) -> Value, so that equal work is done once
        self.count = 0
        self.changed = ChangedMemory(graph)
        self.ordered = []                   # the Calls that must run, in this order

    def run(self):
        """(the graph's inputs, its outputs, None where there is none) as Values."""
        inputs = []
        for node in self.graph.nodes:
            if node.op == "placeholder":
                fake = node.meta["val"]
                self.values[node] = Input(node.name, fake.shape, fake.dtype, stride_of(fake))
                inputs.append(self.values[node])
            elif node.op == "call_function":
                self.values[node] = self.lower(node)
        return inputs, [None if n is None else self.values[n] for n in self.graph.output_node().args[0]]

    # ---- one node ------------------------------------------------------------------------------------------

    def lower(self, node):
        from .rules import RULES

        op = getattr(node.target, "_op", None)
        if op is None and isinstance(self.values.get(node.args[0]), tuple):
            return self.values[node.args[0]][node.args[1]]          # of an operator that was taken apart
        if op is None or not self.may_fuse(node):
            return self.call(node)
        args, kwargs = self.arguments(node)
        rule = RULES.get(op.name)
        found = None
        if rule is not None:
            found = rule(self, node, *args, **kwargs)
        elif getattr(op.info, "kind", None) == "pointwise" and not op.name.endswith("_"):
            found = self.declared_pointwise(op, node, args, kwargs)
        return self.call(node) if found is None else found

    def may_fuse(self, node):
        """Whether all memory that the node touches is left alone by in-place operators, and in a kernel's dtype."""
        tensors = [n for n in (node, *node.all_input_nodes)]
        if any(self.changed.touches(n) for n in tensors):
            return False
        fakes = [n.meta.get("val") for n in tensors]
        fakes = [f for fake in fakes for f in (fake if isinstance(fake, (tuple, list)) else (fake,))]
        return all(not isinstance(f, Tensor) or f.dtype in KERNEL_DTYPES for f in fakes)

    def call(self, node):
        """The node as a Call of its operator."""
        args, kwargs = self.arguments(node)
        fake = node.meta.get("val")
        views = hasattr(node.target, "_op") and is_view(node.target)
        ordered = self.is_ordered(node)
        if node.target is operator.getitem:
            source = args[0]
            views = isinstance(source, Call) and source.is_view
        if isinstance(fake, Tensor):
            made = Call(node.name, fake.shape, fake.dtype, stride_of(fake), node.target, args, kwargs, views,
                        ordered)
        else:
            made = Several(node.name, (), dt.float32, (), node.target, args, kwargs, views, ordered)
        if ordered:
            made.after = tuple(self.ordered[-1:])
            self.ordered.append(made)
        return made

    def is_ordered(self, node):
        if not hasattr(node.target, "_op"):
            return any(self.changed.touches(n) for n in node.all_input_nodes)
        return is_random(node.target) or any(self.changed.touches(n) for n in (node, *node.all_input_nodes))

    def declared_pointwise(self, op, node, args, kwargs):
        """A pointwise operator by the one-element function of its declaration; None if it has arguments of
        another kind than tensors and numbers, or is computed in integers, for which declarations have further
        rules."""
        signature, result = op.info.signature, node.meta["val"]
        given = dict(zip(signature.names, args)) | kwargs
        operands = [given.get(name, signature.keyword_defaults.get(name)) for name in signature.names]
        if not all(is_operand(o) for o in operands):
            return None
        compute = result.dtype if result.dtype is not dt.bool else self.dtype_of(operands)
        if compute not in (dt.float32, dt.float64) or not has_source(op.info.function, compute):
            return None
        return self.pointwise(op.info.function, *operands, compute=compute, result=result.dtype, like=result,
                              name=node.name)

    def arguments(self, node):
        """The node's arguments with Values in the place of nodes."""
        def value(argument):
            return self.values[argument] if isinstance(argument, Node) else argument
        return map_aggregate(node.args, value), {k: map_aggregate(a, value) for k, a in node.kwargs.items()}

    # ---- what rules are made of ----------------------------------------------------------------------------

    def dtype_of(self, operands, kind=None):
        """The dtype in which operands are computed."""
        return compute_dtype([fake_of(o) for o in operands], kind)

    def pointwise(self, function, *operands, compute=None, result=None, like=None, name=None):
        """A Pointwise of operands, which broadcast; `like`: a tensor whose strides it has."""
        compute = compute or self.dtype_of(operands)
        result = result or compute
        shape = geometry.broadcast_shapes(*[o.shape for o in operands if isinstance(o, Value)])
        operands = [before_expand(o) for o in operands]
        strides = None if like is None or like._shape != shape else stride_of(like)
        key = ("pointwise", function, tuple([id(o) if isinstance(o, Value) else (type(o), repr(o))
                                             for o in operands]),
               str(compute), str(result), strides)
        return self.once(key, operands, lambda n: Pointwise(n, shape, result, function, operands, compute,
                                                            strides),
                         name or label(function))

    def reduce(self, kind, x, dims, keepdim=False, name=None):
        """A reduction of `x` over dims (all if there are none). None for dims that kernels cannot walk.

        A kernel reduces the last dimensions, or sums over the first ones; over both, one after the other.
        """
        ndim = len(x.shape)
        if not ndim or 0 in x.shape:
            return None
        dims = tuple(sorted({d % ndim for d in dims})) or tuple(range(ndim))
        first = leading(dims)
        if dims[first:] and dims[first:] != tuple(range(ndim))[first - len(dims):]:
            return None
        if kind != "sum" and (first or len(dims) == ndim):
            return None
        x = self.copied(x) if before_expand(x) is not x else x
        if 0 < first < len(dims) < ndim:
            inner = self.reduce(kind, x, dims[first:], keepdim)
            return self.reduce(kind, inner, dims[:first], keepdim, name)
        shape = [1 if d in dims else size for d, size in enumerate(x.shape) if keepdim or d not in dims]
        key = (kind, id(x), dims, keepdim)
        return self.once(key, (x,), lambda n: Reduce(n, shape, x.dtype, kind, x, dims, keepdim), name or kind)

    def copied(self, x):
        """An expanded value as one that a kernel writes out in full."""
        source = before_expand(x)
        return self.once(("copy", id(x)), (x,),
                         lambda n: Pointwise(n, x.shape, x.dtype, "{0}", [source], x.dtype),
                         "expand")

    def once(self, key, operands, make, name):
        if key not in self.known:
            self.count += 1
            self.known[key] = make(f"v{self.count}_{name}"), operands        # operands: their ids stay theirs
        return self.known[key][0]


LABELS = {"{0} + {1}": "add", "{0} - {1}": "sub", "{0} * {1}": "mul", "{0} / {1}": "div",
          "{0} * {0}": "square",
          "math.sqrt({0})": "sqrt", "{one} / math.sqrt({0} + {1})": "rsqrt", "({0} - {1}) * {2}": "normalize"}


def label(function):
    """What a value is called that a rule made: after its function or expression."""
    if isinstance(function, str):
        return LABELS.get(function, "expression")
    name = getattr(function, "__name__", "function")
    return name if name.isidentifier() else "function"


def leading(dims):
    """How many of the sorted dims are the first ones."""
    return sum(d == i for i, d in enumerate(dims))


def before_expand(value):
    """What an expanded value was expanded from: kernels broadcast by themselves."""
    while isinstance(value, Call) and value.is_view and getattr(value.target, "_op",
                                                                None) is registry["expand"]:
        value = value.args[0]
    return value


def has_source(function, compute):
    """Whether the one-element function can be copied into a kernel of this dtype."""
    try:
        Translator(compute.numpy).add(function)
    except TypeError:
        return False
    return True


def is_operand(value):
    return isinstance(value, Value) or type(value) in (int, float, bool)


def fake_of(operand):
    """A tensor without data for a Value, to ask the rules of promotion."""
    return meta_tensor(operand.shape, operand.dtype) if isinstance(operand, Value) else operand


# ---- memory that in-place operators change -----------------------------------------------------------------

class ChangedMemory:
    """Which nodes of a graph look at memory that an in-place operator changes: found by following views."""

    def __init__(self, graph):
        self.root = {}
        self.changed_roots = set()
        for node in graph.nodes:
            self.look_at(node)

    def look_at(self, node):
        is_part = node.op == "call_function" and (node.target is operator.getitem or
                                                  hasattr(node.target, "_op") and is_view(node.target))
        self.root[node] = self.root[node.args[0]] if is_part else node
        if node.op == "call_function" and hasattr(node.target, "_op"):
            for changed in changed_arguments(node.target, node.args, node.kwargs, Node):
                self.changed_roots.add(self.root[changed])

    def touches(self, node):
        """Whether the node's memory is changed somewhere in the graph."""
        return self.root.get(node) in self.changed_roots
