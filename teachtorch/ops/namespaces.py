"""`torch.ops.<namespace>.<name>.<overload>`: operators under PyTorch's full names.

    torch.ops.aten.add            a packet: all overloads of a name; calling it calls the operator
    torch.ops.aten.add.Tensor     one overload: what __torch_dispatch__ receives
    torch.ops.mylib.scale         an operator of a user's (teachtorch.library)

teachtorch has one operator where ATen has overloads; which overload a call is, its arguments say.
"""
from ..dispatch.operator import registry
from ..dispatch.overriding import overriding
from ..dispatch.torch_function import handle_torch_function, in_place_of
from ..tensor import Tensor

# Our operators that ATen has under another name or overload; the others are "<name>.default".
OVERLOADS = {
    "alias": "detach.default", "sum": "sum.default", "sum_dim": "sum.dim_IntList", "mean": "mean.default",
    "mean_dim": "mean.dim",
    "max_dim": "max.dim", "min_dim": "min.dim", "prod_dim": "prod.dim_int", "median_dim": "median.dim",
    "transpose": "transpose.int", "select": "select.int", "slice": "slice.Tensor", "index": "index.Tensor",
    "where": "where.self", "split": "split.Tensor", "squeeze_dim": "squeeze.dim", "gather": "gather.default",
    "scatter": "scatter.src", "index_put": "index_put.default", "copy_": "copy_.default", "norm": "norm.ScalarOpt_dim",
    "empty": "empty.memory_format", "normal.size": "normal.float_float",
    "var": "var.correction", "std": "std.correction", "unbind": "unbind.int", "cumsum": "cumsum.default",
}
# Operators whose overload depends on whether the second argument is a tensor.
BY_SECOND_ARGUMENT = frozenset((
    "add sub mul div eq ne lt le gt ge pow remainder fmod floor_divide bitwise_and bitwise_or bitwise_xor "
    "masked_fill fill index_fill lerp clamp_min clamp_max").split())
# Factories with several ways to be called.
OF_FACTORIES = {"arange": ["default", "start", "start_step"], "randint": ["default", "low"], "eye": ["default", "m"]}
ALWAYS_TENSOR = frozenset("add sub mul div".split())     # a number becomes a wrapped tensor before it is dispatched


def full_name(op, args):
    """("aten", "add", "Tensor"): what PyTorch calls the operator that this call runs."""
    if "::" in op.name:
        namespace, _, name = op.name.partition("::")
        return namespace, name, "default"
    if op.name in OVERLOADS:
        return ("aten", *OVERLOADS[op.name].split("."))
    if named_with_overload(op):
        return ("aten", *split_overload(op.name))
    base = op.name.removesuffix("_")
    if base in BY_SECOND_ARGUMENT and len(args) > 1:
        return "aten", op.name, overload_by_types(base, args)
    return "aten", op.name.replace("linalg.", "linalg_").replace("special.", "special_"), "default"


def named_with_overload(op):
    """Whether our own name has the overload in it, like "squeeze.dim_"."""
    return "." in op.name and not op.name.startswith(("linalg.", "special.", "fft."))


def split_overload(name):
    """"squeeze.dim_" -> ("squeeze_", "dim")."""
    base, _, overload = name.partition(".")
    return (f"{base}_", overload[:-1]) if overload.endswith("_") else (base, overload)


def overload_by_types(base, args):
    if base == "pow":
        return "_".join(["Tensor" if isinstance(a, Tensor) else "Scalar" for a in args[:2]])
    return "Tensor" if base in ALWAYS_TENSOR or isinstance(args[1], Tensor) else "Scalar"


def taken_over(argument):
    """Whether an argument is no tensor but takes calls over, like an fx proxy: then the overload itself is noted."""
    return overriding[type(argument)] and not isinstance(argument, Tensor)


class OpOverload:
    """One overload; the same object each time it is asked for, so that it can be a key of a table."""

    def __init__(self, packet, op, name):
        self.overloadpacket = packet
        self._op = op
        self._overloadname = name
        self._name = f"{packet.namespace}::{packet.__name__}" + ("" if name == "default" else f".{name}")
        self.__name__ = f"{packet.__name__}.{name}"
        self.__module__ = packet.__module__
        self.namespace = packet.namespace

    @property
    def _schema(self):
        return getattr(self._op, "schema", None) or self._op.info.schema

    def name(self):
        """"aten::add.Tensor"."""
        return self._name

    def redispatch(self, keys, /, *args, **kwargs):
        """Go on with the highest kernel of a key set; for kernels that are given one, to reach those below them."""
        signature = self._op.info.signature
        return self._op.redispatch(keys, *in_place_of(signature, args, kwargs))

    def __call__(self, *args, **kwargs):
        if any([taken_over(a) for a in (*args, *kwargs.values())]):
            return handle_torch_function(self, [*args, *kwargs.values()], *args, **kwargs)
        if "::" in self._op.name or self._op.info.kind in ("factory", "like"):
            return self._op.public(*args, **kwargs)
        return self._op(*[plain_list(a) for a in in_place_of(self._op.info.signature, args, kwargs)])

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self.overloadpacket.__name__}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.namespace}.{self.overloadpacket.__name__}.{self._overloadname}"


def plain_list(value):
    """A list of a class of its own, such as those in the nodes of an fx graph, as the list that kernels know."""
    return list(value) if isinstance(value, list) and value.__class__ is not list else value


class OpOverloadPacket:
    """All overloads of a name."""

    def __init__(self, namespace, name, operators):
        self.namespace = namespace
        self.__name__ = name
        self.__module__ = f"torch.ops.{namespace}"
        self._operators = operators            # {overload: operator}, "default" first
        self._made = {}

    def overload(self, op, name):
        """The overload `name`, which `op` computes."""
        if name not in self._made:
            self._made[name] = OpOverload(self, op, name)
        return self._made[name]

    def overloads(self):
        """The overloads' names."""
        return list(self._operators)

    def __getattr__(self, name):
        if name in self._operators:
            return self.overload(self._operators[name], name)
        raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")

    def __call__(self, *args, **kwargs):
        if any([taken_over(a) for a in (*args, *kwargs.values())]):
            return handle_torch_function(self, [*args, *kwargs.values()], *args, **kwargs)
        return next(iter(self._operators.values())).public(*args, **kwargs)

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


class OpNamespace:
    """`torch.ops.aten`, `torch.ops.mylib`."""

    def __init__(self, name):
        self._name = name
        self._packets = {}

    def __getattr__(self, name):
        packet = self._packets.get(name)
        if packet is None:
            operators = operators_called(self._name, name)
            if not operators:
                raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
            packet = self._packets[name] = OpOverloadPacket(self._name, name, operators)
        return packet

    def forget(self, name):
        """An operator of that name was made anew."""
        self._packets.pop(name, None)

    def __repr__(self):
        return f"<module 'torch.ops.{self._name}' from 'torch.ops'>"


def operators_called(namespace, name):
    """{overload: operator} for a name of a namespace."""
    if namespace != "aten":
        op = registry.get(f"{namespace}::{name}")
        return {} if op is None else {"default": op}
    found = {}
    for op in registry.values():
        if "::" in op.name:
            continue
        for overload in overloads_of(op):
            if full_name_without_arguments(op) == name:
                found.setdefault(overload, op)
    return found


def full_name_without_arguments(op):
    if op.name in OVERLOADS:
        return OVERLOADS[op.name].split(".")[0]
    if named_with_overload(op):
        return split_overload(op.name)[0]
    return op.name.replace("linalg.", "linalg_").replace("special.", "special_")


def overloads_of(op):
    if op.name in OVERLOADS:
        return [OVERLOADS[op.name].split(".")[1]]
    if named_with_overload(op):
        return [split_overload(op.name)[1]]
    if op.name in OF_FACTORIES:
        return OF_FACTORIES[op.name]
    base = op.name.removesuffix("_")
    if base == "pow":
        return ["Tensor_Scalar", "Tensor_Tensor", "Scalar_Tensor"][:2 if op.name == "pow_" else 3]
    return ["Tensor", "Scalar"] if base in BY_SECOND_ARGUMENT else ["default"]


namespaces = {}


def namespace(name):
    """The namespace of that name; there is one for every name."""
    if name not in namespaces:
        namespaces[name] = OpNamespace(name)
    return namespaces[name]


def overload_of(op, args):
    """The OpOverload that a call of `op` with these arguments is."""
    space, name, overload = full_name(op, args)
    return getattr(namespace(space), name).overload(op, overload)
