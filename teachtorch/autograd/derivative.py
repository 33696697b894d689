"""Derivatives by argument name, and the backward nodes made from them.

An operator's declaration holds formulas such as

    vjp = {"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self}

The parameter names of a formula say what it needs, and so what is saved: `grad` (or `grads`, of an operator with
several outputs), names of arguments, names of outputs (`result`), `<argument>_shape`, `_dtype`, `_geometry` (shape,
stride, offset), and `needs` (which arguments of a joint formula want a gradient). Only what the formulas of the
arguments that require grad name is saved: multiplying by a constant saves the constant and not its partner.
"""
from ..tensor import Tensor, stride_of
from .meta import gradient_source
from .node import Node, next_sequence_nr
from .saved import SECOND_BACKWARD, Saved, save_input, save_result

# How a plan fetches one value when the node is made.
ARGUMENT, RESULT, SHAPE, DTYPE, GEOMETRY, NEEDS = range(6)
_SUFFIXES = (("_shape", SHAPE), ("_dtype", DTYPE), ("_geometry", GEOMETRY))


class Formula:
    """One derivative: `fn`, the names of its parameters after `grad`, and the positions it yields gradients for."""

    __slots__ = ("fn", "names", "positions", "is_joint")

    def __init__(self, fn, positions, is_joint):
        self.fn = fn
        self.names = fn.__code__.co_varnames[1:fn.__code__.co_argcount]
        self.positions = positions
        self.is_joint = is_joint


class Derivatives:
    """All that autograd knows of one operator.

    `vjp`: {"argument": formula} or {"argument, argument": formula that returns a tuple}; `jvp`: a formula or one of
    the marks of ops/declare.py; `outputs`: the results' names. `positions`: the differentiable arguments' places.
    """

    def __init__(self, name, arguments, vjp, jvp=None, outputs=("result",)):
        self.arguments = {argument: i for i, argument in enumerate(arguments)}
        self.outputs = {output: i for i, output in enumerate(outputs)}
        self.jvp = jvp
        self.is_multi_output = any(fn.__code__.co_varnames[0] == "grads" for fn in vjp.values())
        self.formulas = [self._formula(key, fn) for key, fn in vjp.items()]
        self.positions = tuple(sorted(p for f in self.formulas for p in f.positions))
        self.slot_of = {position: slot for slot, position in enumerate(self.positions)}
        self.node_class = type(node_name(name), (OperatorNode,), {"__slots__": (), "derivatives": self})
        self._plans = {}

    def _formula(self, key, fn):
        names = [name.strip() for name in key.split(",")]
        return Formula(fn, tuple(self.arguments[name] for name in names), len(names) > 1)

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
        self.entries, self.names, self.steps = [], [], []
        for formula in derivatives.formulas:
            slots = tuple(derivatives.slot_of[p] for p in formula.positions)
            if any(mask >> slot & 1 for slot in slots):
                wanted = tuple(self._entry(derivatives, name, slots) for name in formula.names)
                self.steps.append((formula.fn, wanted, slots, formula.is_joint))
        self.keeps_tensors = any(kind in (ARGUMENT, RESULT) for kind, _ in self.entries)

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
    return value._dtype if kind == DTYPE else (value._shape, stride_of(value), value._offset)


def node_name(operator_name):
    """The name of an operator's node, spelt as PyTorch does: "native_layer_norm" -> "NativeLayerNormBackward0"."""
    words = operator_name.rstrip("_").removeprefix("linalg.").split("_") if not operator_name.startswith("linalg.") \
        else ("linalg_" + operator_name.removeprefix("linalg.").rstrip("_")).split("_")
    return "".join(word[:1].upper() + word[1:] for word in words if word) + "Backward0"


class OperatorNode(Node):
    """The backward node of a declared operator; one subclass per operator, named after it."""

    __slots__ = ("plan", "saved", "counts")
    derivatives = None

    def __init__(self, plan, sources, counts):          # sets every slot itself: one is made per recorded call
        self.sources = sources
        self.sequence_nr = next_sequence_nr()
        self.hooks = None
        self._metadata = None
        self.plan = plan
        self.counts = counts

    def apply(self, grads):
        plan = self.plan
        if plan.is_single:
            grads = grads[0]
            if grads is None:
                return [None] * len(self.next_edges)
        values = self.unpacked()
        by_slot = [None] * plan.width
        for fn, wanted, slots, is_joint in plan.steps:
            found = fn(grads, *[values[i] for i in wanted])
            if is_joint:
                for slot, value in zip(slots, found):
                    by_slot[slot] = value
            else:
                by_slot[slots[0]] = found
        return by_slot if self.counts is None else self.flattened(by_slot)

    def flattened(self, by_slot):
        """Gradients per edge, where an argument that is a list has an edge per tensor."""
        flat = []
        for value, count in zip(by_slot, self.counts):
            if count is None:
                flat.append(value)
            else:
                flat.extend([None] * count if value is None else value)
        return flat

    def unpacked(self):
        saved = self.saved
        if saved is None:
            raise RuntimeError(SECOND_BACKWARD)
        if not self.plan.keeps_tensors:
            return saved
        return [value.unpack(self, self.plan.entries[i][1]) if isinstance(value, Saved) else value
                for i, value in enumerate(saved)]

    def release(self):
        if self.plan.keeps_tensors:
            for value in self.saved or ():
                if isinstance(value, Saved):
                    self.saved = None
                    return

    def __getattr__(self, name):
        """`_saved_<name>`: what the node keeps, unpacked. RuntimeError once it has been freed."""
        if name.startswith("_saved_"):
            wanted = name.removeprefix("_saved_")
            names = OperatorNode.plan.__get__(self).names
            if wanted in names:
                return self.unpacked()[names.index(wanted)]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self):
        return [*super().__dir__(), *("_saved_" + name for name in self.plan.names)]


def collect_sources(positions, args):
    """The sources of a node's edges, and how many each list argument has (None where no argument is a list)."""
    sources, counts = [], None
    for slot, position in enumerate(positions):
        value = args[position]
        if isinstance(value, Tensor):
            sources.append(gradient_source(value))
        elif value.__class__ in (list, tuple):
            counts = counts or [None] * len(positions)
            counts[slot] = len(value)
            sources.extend([gradient_source(v) if isinstance(v, Tensor) else None for v in value])
        else:
            sources.append(None)
    return tuple(sources), counts
