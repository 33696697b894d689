"""Derivatives by argument name, and the backward nodes made from them.

An operator's declaration holds formulas such as

    vjp = {"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self}

The parameter names of a formula say what it needs, and so what is saved: `grad` (or `grads`, of an operator with
several outputs), names of arguments, names of outputs (`result`), `<argument>_shape`, `_dtype`, `_device`, `_layout`, `_geometry`
(shape, stride, offset), and `needs` (which arguments of a joint formula want a gradient). Only what the formulas of the
arguments that require grad name is saved: multiplying by a constant saves the constant and not its partner.

The operators of small networks also have `arrays`: the same formulas on ndarrays, which a plain backward of CPU tensors
(no create_graph, nobody observing) uses to go around the dispatcher. The tests hold the two equal.
"""
from ..core import observer
from ..dispatch.keys import PYTHON_FUNCTION
from ..dispatch.state import state
from ..kernels.pointwise import silently
from ..tensor import Tensor, stride_of
from . import on_arrays
from .meta import gradient_source
from .node import SECOND_BACKWARD, Node, next_sequence_nr
from .saved import Saved, SavedTensor, save_input, save_result

# How a plan fetches one value when the node is made.
ARGUMENT, RESULT, SHAPE, DTYPE, GEOMETRY, DEVICE, LAYOUT, NEEDS = range(8)
_SUFFIXES = (("_shape", SHAPE), ("_dtype", DTYPE), ("_geometry", GEOMETRY), ("_device", DEVICE),
             ("_layout", LAYOUT))

# Operators to which PyTorch passes a number as a tensor: it has a (None, 0) edge and counts as saved. Elsewhere a
# number has neither.
WRAPS_NUMBERS = frozenset(("add", "sub", "mul", "div", "where"))


# The number at the end of a node's name, where it depends on which differentiable arguments are numbers: PyTorch numbers
# the overloads of an operator.
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
    words = operator_name.rstrip("_").removeprefix("linalg.").split("_") if not operator_name.startswith("linalg.") \
        else ("linalg_" + operator_name.removeprefix("linalg.").rstrip("_")).split("_")
    return "".join([word.title() for word in words]) + "Backward0"      # "im2col": Im2Col, as Python's title has it


FREED = object()                # stands in `saved`, which is a tuple from then on, for what was freed


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

    def name(self):
        name, overloads = type(self).__name__, self.derivatives.overloads
        if overloads is None:
            return name
        counts = self.counts or ()
        return name.rstrip("0123456789") + str(overloads.get(tuple([slot for slot, count in enumerate(counts) if count == 0]), 0))

    def apply(self, grads):
        plan = self.plan
        if plan.is_single:
            grads = grads[0]
            if grads is None:
                return [None] * len(self.next_edges)
        by_slot = None
        if plan.on_arrays is not None and not (state.grad_enabled or state.forward_ad or observer.active
                                               or state.dispatch_modes):
            by_slot = silently(plan.on_arrays, self, grads)
        if by_slot is None:
            by_slot = run_formulas(plan.steps, grads, self.unpacked(), plan.width)
        return by_slot if self.counts is None else self.flattened(by_slot)

    def apply_towards(self, grads, is_wanted):
        """Only the formulas that a wanted edge needs, where each argument has its edge."""
        plan = self.plan
        if self.counts is not None or plan.is_single and grads[0] is None:
            return self.apply(grads)
        wanted = [edge is not None and is_wanted(edge) for edge in self.next_edges]
        if wanted == [edge is not None for edge in self.next_edges]:
            return self.apply(grads)
        steps = [step for step in plan.steps if any(wanted[slot] for slot in step[2])]
        found = run_formulas(steps, grads[0] if plan.is_single else grads, self.unpacked(), plan.width)
        return [result if keep else None for result, keep in zip(found, wanted)]

    def flattened(self, by_slot):
        """Gradients per edge, where an argument that is a list has an edge per tensor, and a number none."""
        flat = []
        for value, count in zip(by_slot, self.counts):
            if count is None:
                flat.append(value)
            else:
                flat.extend([None] * count if value is None else value)
        return flat

    def unpacked(self):
        saved = self.saved
        if saved.__class__ is tuple:
            raise RuntimeError(SECOND_BACKWARD)
        if not self.plan.keeps_tensors:
            return saved
        return [value.unpack(self, self.plan.entries[i][1]) if isinstance(value, Saved) else value
                for i, value in enumerate(saved)]

    def unpacked_at(self, place):
        """One saved value, without unpacking the others. RuntimeError once it has been freed."""
        value = self.saved[place]
        if value is FREED:
            raise RuntimeError(SECOND_BACKWARD)
        return value.unpack(self, self.plan.entries[place][1]) if isinstance(value, Saved) else value

    def release(self):
        plan = self.plan
        if plan.frees_numbers:
            self.saved = (FREED,) * len(plan.names)
        elif plan.keeps_tensors:
            for value in self.saved:
                if isinstance(value, Saved):
                    self.saved = tuple([FREED if isinstance(v, Saved) else v for v in self.saved])
                    return

    def __getattr__(self, name):
        """`_saved_<name>`: what the node keeps, unpacked. RuntimeError once it has been freed."""
        prefix = "_raw_saved_" if name.startswith("_raw_saved_") else "_saved_"
        if name.startswith(prefix):
            wanted = name.removeprefix(prefix).replace("_sym_sizes", "_shape")      # PyTorch's word for a saved shape
            names = OperatorNode.plan.__get__(self).names
            if wanted in names:
                place = names.index(wanted)
                return self.unpacked_at(place) if prefix == "_saved_" else RawSaved(self, place)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self):
        return [*super().__dir__(), *("_saved_" + name for name in self.plan.names)]


class RawSaved:
    """A saved tensor as a place of its own (torch's SavedTensor): takes hooks of its own."""

    def __init__(self, node, place):
        self._node, self._place = node, place

    def register_hooks(self, pack_hook, unpack_hook):
        """Keep pack_hook(tensor) in place of the tensor; unpack_hook gives it back. RuntimeError if hooks are there."""
        saved = self._node.saved
        if saved[self._place] is FREED:
            raise RuntimeError(SECOND_BACKWARD)
        if not isinstance(saved[self._place], SavedTensor):
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only "
                               "one pair of hooks is allowed at a time.")
        saved[self._place] = saved[self._place].with_hooks(pack_hook, unpack_hook)


def run_formulas(steps, grads, values, width):
    """The gradients by slot, None where no formula of these steps gives one. No class or mode takes a formula's calls
    over: they are not the user's."""
    before = state.excluded
    state.excluded = before | PYTHON_FUNCTION
    try:
        return by_slots(steps, grads, values, width)
    finally:
        state.excluded = before


def by_slots(steps, grads, values, width):
    by_slot = [None] * width
    for fn, wanted, slots, is_joint in steps:
        found = fn(grads, *[values[i] for i in wanted])
        if is_joint:
            for slot, value in zip(slots, found):
                by_slot[slot] = value
        else:
            by_slot[slots[0]] = found
    return by_slot


def collect_sources(positions, args, wraps_numbers=True):
    """The sources of a node's edges, and how many each argument has where that is not one.

    A list has several. A number has none (see WRAPS_NUMBERS), nor has None beside a number: PyTorch's overload for
    numbers has neither of the arguments.
    """
    values = [args[position] for position in positions]
    without = () if wraps_numbers else edgeless(values)
    sources, counts = [], [None] * len(values)
    for slot, value in enumerate(values):
        if isinstance(value, Tensor):
            sources.append(gradient_source(value))
        elif value.__class__ in (list, tuple):
            counts[slot] = len(value)
            sources.extend([gradient_source(v) if isinstance(v, Tensor) else None for v in value])
        elif slot in without:
            counts[slot] = 0
        else:
            sources.append(None)
    return tuple(sources), None if counts.count(None) == len(counts) else counts


def edgeless(values):
    """The slots of the numbers and of None, if there is a number."""
    others = [slot for slot, value in enumerate(values) if not isinstance(value, (Tensor, list, tuple))]
    return others if any(values[slot] is not None for slot in others) else ()
