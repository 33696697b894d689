"""The backward nodes of declared operators: what they keep, and how they run the formulas of derivative.py."""

from ..core import observer
from ..dispatch.keys import PYTHON_FUNCTION
from ..dispatch.state import state
from ..kernels.pointwise import silently
from ..tensor import Tensor
from .meta import gradient_source
from .node import SECOND_BACKWARD, Node, next_sequence_nr
from .saved import Saved, SavedTensor

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
        numbers = tuple([slot for slot, count in enumerate(self.counts or ()) if count == 0])
        return name.rstrip("0123456789") + str(overloads.get(numbers, 0))

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
    """The gradients by slot, None where no formula of these steps gives one.

    No class or mode takes a formula's calls over: they are not the user's.
    """
    before = state.excluded
    state.excluded = before | PYTHON_FUNCTION
    try:
        return by_slots(steps, grads, values, width)
    finally:
        state.excluded = before


def by_slots(steps, grads, values, width):
    """What each formula of `steps` gives, at the slots of its arguments."""
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

    A list has several. A number has none (see WRAPS_NUMBERS of derivative.py), nor has None beside a number: PyTorch's
    overload for numbers has neither of the arguments.
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
