"""What a node keeps of the forward pass, and the checks when it is taken out again.

A saved tensor is a reference, not a copy. Its version is compared at unpacking, and only then: changing a tensor in
place is an error only for a node that needs the old value (paper, section 4.3).
"""
import weakref

from ..core.dtype import scalar_type_name
from ..dispatch.state import set_grad_mode, state
from ..tensor import Tensor
from . import meta as autograd_meta
from .accumulate import AccumulateGrad
from .anomaly_mode import is_anomaly_enabled
from .detached import detached
from .node import resolve_edge

def save_input(t):
    """Keep an argument of the operator: the tensor itself."""
    if state.saved_tensors_hooks is not None:
        return PackedTensor(t, state.saved_tensors_hooks)
    return SavedTensor(t, False)


def save_result(t):
    """Keep a result: its memory without its grad_fn, which would close a reference cycle."""
    if state.saved_tensors_hooks is not None:
        return PackedTensor(t, state.saved_tensors_hooks, is_result=True)
    return SavedTensor(detached(t), True)


class Saved:
    """Something kept for backward: `unpack(node, output_nr)` gives it back."""

    __slots__ = ()


class SavedTensor(Saved):
    """A tensor and the version it had when it was saved."""

    __slots__ = ("tensor", "version", "is_result")

    def __init__(self, t, is_result):
        if not t._keys & t._keys - 1:
            raise RuntimeError("Inference tensors cannot be saved for backward. Please do not use Tensors created in "
                               "inference mode in computation tracked by autograd. To work around this, you can make "
                               "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
                               "instead of `torch.inference_mode()`.")
        self.tensor = t
        self.version = 0 if t._counter is None else t._counter.value
        self.is_result = is_result

    def unpack(self, node, output_nr=0):
        """The tensor, if it is still what was saved. RuntimeError if it was changed in place."""
        t = self.tensor
        if t._counter is not None and t._counter.value != self.version:
            raise RuntimeError(changed_in_place(t, self.version, node if self.is_result else None, output_nr))
        if self.is_result and state.grad_enabled and t._dtype.is_floating_point:
            t = with_history(t, node, output_nr)
        return t


    def with_hooks(self, pack_hook, unpack_hook):
        """The same, kept through hooks."""
        return PackedTensor(self.tensor, (pack_hook, unpack_hook), self.is_result)


class PackedTensor(Saved):
    """What a `pack` hook of saved_tensors_hooks made of a tensor; `unpack` turns it back, without version check.

    `source`: where gradients of the tensor go, for what the hook gives back has no history.
    """

    __slots__ = ("packed", "unpack_hook", "source", "is_result")

    def __init__(self, t, hooks, is_result=False):
        pack, self.unpack_hook = hooks
        self.is_result = is_result
        self.source = None if is_result else autograd_meta.gradient_source(t)
        self.packed = packed(pack, detached(t) if is_result else t)

    def unpack(self, node, output_nr=0):
        t = self.unpack_hook(self.packed)
        if not isinstance(t, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(t).__name__}")
        edge = (node, output_nr) if self.is_result else resolve_edge(self.source)
        return t if edge is None or autograd_meta.gradient_edge(t) == edge else with_history(t, *edge)


def packed(pack, t):
    """What the hook makes of the tensor. It runs unrecorded. RuntimeError if it changes the tensor."""
    before, version = state.grad_enabled, t._version
    set_grad_mode(False)
    try:
        found = pack(t)
    finally:
        set_grad_mode(before)
    if t._version != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
            "hook cannot be modified by in-place operations as this can lead to unexpected "
            "side-effects. Please open an issue if you need to perform in-place operations on the input "
            "to a pack hook."
        )
    return found


class ResultInView(Saved):
    """A saved result of an operator that changed a view: its history is the base's, of which it is a part now."""

    __slots__ = ("saved", "copy_slices")

    def __init__(self, saved, copy_slices):
        self.saved = saved
        self.copy_slices = weakref.ref(copy_slices)

    def unpack(self, node, output_nr=0):
        t = self.saved.unpack(node, output_nr)
        if state.grad_enabled:
            autograd_meta.set_history(t, self.copy_slices().node_of_view())
        return t


def results_in_view(saved, copy_slices):
    """What a node keeps, its results with the history that the changed view's base has."""
    return [ResultInView(value, copy_slices) if getattr(value, "is_result", False) else value for value in saved]


def with_history(t, node, output_nr):
    """A saved tensor with its grad_fn back, for a backward that is differentiated itself; a leaf is a leaf again."""
    tangent = None if t._meta is None else t._meta.tangent
    t = detached(t)
    if isinstance(node, AccumulateGrad):
        autograd_meta.stand_for(t, node)
    else:
        autograd_meta.set_history(t, node, output_nr)
    t._meta.tangent = tangent
    return t


def changed_in_place(t, expected, node, output_nr):
    maker = node if node is not None else autograd_meta.grad_fn_of(t)
    nr = output_nr if node is not None or t._meta is None else t._meta.output_nr
    made_by = f", which is output {nr} of {maker.operator_name()}," if maker is not None else ""
    return ("one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[torch.{scalar_type_name(t._dtype)}Tensor {list(t._shape)}]{made_by} is at version {t._counter.value}; "
            f"expected version {expected} instead. Hint: {hint()}")


def hint():
    """How to find the change, in PyTorch's words."""
    if is_anomaly_enabled():
        return ("the backtrace further above shows the operation that failed to compute its gradient. The variable in "
                "question was changed in there or anywhere later. Good luck!")
    return ("enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False).")
