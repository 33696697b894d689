"""Derivatives by argument name: the formulas of an operator, and what they need saved. Nodes: operator_node.py.

An operator's declaration holds formulas such as

    vjp = {"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self}

The parameter names of a formula say what it needs, and so what is saved: `grad` (or `grads`, of an operator with
several outputs), names of arguments, names of outputs (`result`), `<argument>_shape`, `_dtype`, `_device`, `_layout`,
`_geometry` (shape, stride, offset), and `needs` (which arguments of a joint formula want a gradient). Only what the
formulas of the arguments that require grad name is saved: multiplying by a constant saves the constant and not its
partner.

The operators of small networks also have `arrays`: the same formulas on ndarrays, which a plain backward of CPU tensors
(no create_graph, nobody observing) uses to go around the dispatcher. The tests hold the two equal.
"""

from ..tensor import Tensor, stride_of
from . import on_arrays
from .operator_node import OperatorNode
from .saved import Saved, save_input, save_result

# How a plan fetches one value when the node is made.
ARGUMENT, RESULT, SHAPE, DTYPE, GEOMETRY, DEVICE, LAYOUT, NEEDS = range(8)
_SUFFIXES = (("_shape", SHAPE), ("_dtype", DTYPE), ("_geometry", GEOMETRY), ("_device", DEVICE),
             ("_layout", LAYOUT))

# Operators to which PyTorch passes a number as a tensor: it has a (None, 0) edge and counts as saved. Elsewhere a
# number has neither.
WRAPS_NUMBERS = frozenset(("add", "sub", "mul", "div", "where"))

# The number at the end of a node's name, where it depends on which differentiable arguments are numbers: PyTorch
# numbers the overloads of an operator.
OVERLOADS = {
    "clamp": {(): 0, (1,): 1, (2,): 1, (1, 2): 1}, "pow": {(): 1, (1,): 0, (0,): 2}, "rsub": {(1,): 1},
    "clamp_max": {(): 1, (1,): 0}, "clamp_min": {(): 1, (1,): 0},
    "masked_fill": {(): 1, (2,): 0}, "lerp": {(): 1, (2,): 0}, "fmod": {(): 1, (1,): 0}, "remainder": {(): 1, (1,): 0},
    "index_fill": {(): 1, (3,): 0}, "fill": {(): 1, (1,): 0}, "fill_": {(): 3, (1,): 2},
    "copysign": {(): 0, (1,): 1}, "xlogy": {(): 0, (0,): 1, (1,): 2},
}


class Formula:
    """One derivative: `fn`, the names of its parameters after `grad`, and the positions it yields gradients for.

    `on_arrays`: the same with the same parameters, from ndarrays to an ndarray; or None.
    """

    __slots__ = ("fn", "names", "positions", "is_joint", "on_arrays")

    def __init__(self, fn, positions, is_joint, on_arrays=None):
        self.fn = fn
        self.names = parameters_of(fn)
        self.positions = positions
        self.is_joint = is_joint
        self.on_arrays = on_arrays
        if on_arrays is not None and parameters_of(on_arrays) != self.names:
            raise ValueError(f"the formula on arrays has parameters {parameters_of(on_arrays)}, not {self.names}")


def parameters_of(fn):
    """The names of a formula's parameters after the gradient."""
    return fn.__code__.co_varnames[1:fn.__code__.co_argcount]


class Derivatives:
    """All that autograd knows of one operator.

    `vjp`: {"argument": formula} or {"argument, argument": formula that returns a tuple}; `jvp`: a formula or one of
    the marks of ops/declare.py; `outputs`: the results' names; `arrays`: formulas of `vjp`, on ndarrays. `positions`:
    the differentiable arguments' places.
    """

    def __init__(self, name, arguments, vjp, jvp=None, outputs=("result",), arrays=None):
        self.arguments = {argument: i for i, argument in enumerate(arguments)}
        self.outputs = {output: i for i, output in enumerate(outputs)}
        self.jvp = jvp
        self.is_multi_output = any(fn.__code__.co_varnames[0] == "grads" for fn in vjp.values())
        self.formulas = [self._formula(key, fn, (arrays or {}).get(key)) for key, fn in vjp.items()]
        self.positions = tuple(sorted(p for f in self.formulas for p in f.positions))
        self.slot_of = {position: slot for slot, position in enumerate(self.positions)}
        self.node_class = type(node_name(name), (OperatorNode,), {"__slots__": (), "derivatives": self})
        self.wraps_numbers = name in WRAPS_NUMBERS
        self.overloads = OVERLOADS.get(name)
        self._plans = {}

    def _formula(self, key, fn, on_arrays):
        names = [name.strip() for name in key.split(",")]
        return Formula(fn, tuple(self.arguments[name] for name in names), len(names) > 1, on_arrays)

    def source(self, name):
        """Where a formula's parameter comes from: (kind, index of the argument or output)."""
        if name in self.arguments:
            return ARGUMENT, self.arguments[name]
        if name in self.outputs:
            return RESULT, self.outputs[name]
        for suffix, kind in _SUFFIXES:
            if name.endswith(suffix) and name.removesuffix(suffix) in self.arguments:
                return kind, self.arguments[name.removesuffix(suffix)]
        raise ValueError(f"a derivative asks for {name!r}, which is neither an argument nor an output")

    def plan(self, mask):
        """The plan for the arguments of `mask` (bit i: the i-th differentiable argument requires grad)."""
        plan = self._plans.get(mask)
        if plan is None:
            plan = self._plans[mask] = Plan(self, mask)
        return plan


class Plan:
    """What to save and which formulas to run when a given set of arguments requires grad."""

    def __init__(self, derivatives, mask):
        self.mask = mask
        self.width = len(derivatives.positions)
        self.is_single = len(derivatives.outputs) == 1 and not derivatives.is_multi_output
        self.entries, self.names, self.steps, self.array_steps = [], [], [], []
        for formula in derivatives.formulas:
            slots = tuple(derivatives.slot_of[p] for p in formula.positions)
            if any(mask >> slot & 1 for slot in slots):
                wanted = tuple(self._entry(derivatives, name, slots) for name in formula.names)
                self.steps.append((formula.fn, wanted, slots, formula.is_joint))
                if formula.on_arrays is not None:
                    self.array_steps.append((formula.on_arrays, wanted, slots[0]))
        self.frees_numbers = derivatives.wraps_numbers and any(
            kind == ARGUMENT and index in derivatives.positions for kind, index in self.entries)
        tensor_places = {i for i, (kind, _) in enumerate(self.entries) if kind in (ARGUMENT, RESULT)}
        self.keeps_tensors = bool(tensor_places)
        self.on_arrays = None
        if len(self.array_steps) == len(self.steps):
            self.on_arrays = on_arrays.function_of(self, derivatives.node_class.__name__, tensor_places)

    def _entry(self, derivatives, name, slots):
        """The place of `name` among the saved values."""
        if name == "needs":
            self.names.append(name)
            self.entries.append((NEEDS, tuple(bool(self.mask >> slot & 1) for slot in slots)))
            return len(self.names) - 1
        if name not in self.names:
            self.names.append(name)
            self.entries.append(derivatives.source(name))
        return self.names.index(name)

    def save(self, args, results):
        """The values to keep, in the order of `entries`."""
        saved = []
        for kind, index in self.entries:
            if kind == ARGUMENT:
                saved.append(saved_argument(args[index]))
            elif kind == RESULT:
                saved.append(None if results is None else save_result(results[index]))
            else:
                saved.append(index if kind == NEEDS else describe(args[index], kind))
        return saved

    def save_results(self, saved, results):
        """Put the results into what `save(args, None)` left open: in place, arguments are kept before they change."""
        for place, (kind, index) in enumerate(self.entries):
            if kind == RESULT:
                saved[place] = save_result(results[index])


def saved_argument(value):
    """An argument as a node keeps it: tensors as SavedTensors, anything else as it is."""
    if isinstance(value, Tensor):
        return save_input(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return SavedList([saved_argument(v) for v in value])
    return value


class SavedList(Saved):
    """The saved tensors of an argument that is a list of tensors."""

    __slots__ = ("items",)

    def __init__(self, items):
        self.items = items

    def unpack(self, node, output_nr=0):
        return [item.unpack(node) if isinstance(item, Saved) else item for item in self.items]


def describe(value, kind):
    """Shape, dtype or geometry of an argument without its data; of each tensor of a list. Numbers have no shape."""
    if isinstance(value, (list, tuple)):
        return [describe(v, kind) for v in value]
    if not isinstance(value, Tensor):
        return () if kind == SHAPE else None
    if kind == SHAPE:
        return value._shape
    if kind == DEVICE:
        return value._device
    if kind == LAYOUT:
        return value.layout
    return value._dtype if kind == DTYPE else (value._shape, stride_of(value), value._offset)


def node_name(operator_name):
    """The name of an operator's node, spelt as PyTorch does: "native_layer_norm" -> "NativeLayerNormBackward0"."""
    words = operator_name.rstrip("_").replace("linalg.", "linalg_").split("_")
    return "".join([word.title() for word in words]) + "Backward0"      # "im2col": Im2Col, as Python's title has it
