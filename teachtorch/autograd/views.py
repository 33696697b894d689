"""Views under autograd: in-place operations on a view change its base's history, and every other view's.

    base.grad_fn becomes CopySlices                the gradient of the base, with the view's part sent through the op
    the other views' grad_fn becomes stale         and is made anew when next asked: AsStridedBackward0 of the base
"""
from ..dispatch.state import state
from ..tensor import ViewMeta, counter_of, stride_of
from . import meta as autograd_meta
from .node import SECOND_BACKWARD, InputMetadata, Node

NO_GRAD, MULTI_OUTPUT, INFERENCE, CUSTOM_FUNCTION = "no_grad", "multi_output", "inference", "custom_function"


def mark_view(view, base, is_multi_output=False):
    """Note that `view` looks at `base`. Views of views refer to the root, and share what forbids changing them.

    Nothing is noted of inference tensors, which have neither versions nor a history.
    """
    if not base._keys & base._keys - 1:
        return
    outer = base._view
    root = base if outer is None else outer.base
    if not state.grad_enabled:
        creation = INFERENCE if state.inference else NO_GRAD
    elif is_multi_output:
        creation = MULTI_OUTPUT
    else:
        creation = None if outer is None else outer.creation
    view._view = ViewMeta(root, counter_of(view).value, creation)


def refresh(view):
    """Give a view the grad_fn that its base's history now implies, if the base was changed since.

    RuntimeError if the view was made in a way that leaves its grad_fn unknown after such a change.
    """
    info = view._view
    is_tracked = follow_base(view) or (view._meta is not None and view._meta.grad_fn is not None)
    if not is_tracked or info.version == view._counter.value:
        return
    if info.creation is not None:
        raise RuntimeError(forbidden_view(view, "its base or another view of its base has been"))
    regenerate(view)


def regenerate(view):
    """Derive the view's grad_fn from its base's history."""
    info = view._view
    info.version = view._counter.value
    edge = autograd_meta.gradient_edge(info.base)
    renew_history(view, AsStridedOfBase(InputMetadata(view), geometry_of(view), geometry_of(info.base), edge))


def follow_base(view):
    """Whether the base requires grad; then the view does too. A view that no graph knows lets gradients end."""
    base_meta, meta = view._view.base._meta, view._meta
    if base_meta is None or not base_meta.requires_grad:
        if meta is not None and meta.follows_base and meta.grad_fn is None:
            meta.requires_grad = meta.follows_base = False
        return False
    if meta is None or not meta.requires_grad:
        meta = autograd_meta.meta_of(view)
        meta.requires_grad = meta.follows_base = True
    return True


class AsStridedOfBase(Node):
    """The regenerated grad_fn of a view: from the view's gradient to one of the base's shape."""

    __slots__ = ("view_geometry", "base_geometry")

    def __init__(self, metadata, view_geometry, base_geometry, edge):
        super().__init__((edge,))
        self.input_metadata = [metadata]
        self.view_geometry = view_geometry
        self.base_geometry = base_geometry

    def name(self):
        return "AsStridedBackward0"

    def apply(self, grads):
        if grads[0] is None:
            return [None]
        return [grads[0].as_strided_backward(*self.base_geometry, *self.view_geometry)]


def geometry_of(t):
    return t._shape, stride_of(t), t._offset


class CopySlices(Node):
    """The history of a base of which a view was changed in place by the operator of node `fn`.

    Edge 0 leads to the base's former history, the others are `fn`'s edges after its first.
    torch/csrc/autograd/functions/tensor.cpp
    """

    __slots__ = ("fn", "view_metadata", "view_geometry", "base_geometry")

    def __init__(self, base, view, base_edge, fn):
        super().__init__((base_edge, *fn.sources[1:]))
        self.input_metadata = [InputMetadata(base)]
        self.fn = fn
        self.view_metadata = InputMetadata(view)
        self.view_geometry = geometry_of(view)
        self.base_geometry = geometry_of(base)

    def apply(self, grads):
        grad = grads[0]
        if grad is None:
            return [None] * len(self.next_edges)
        if self.fn is None:
            raise RuntimeError(SECOND_BACKWARD)
        shape, stride, base_offset = self.base_geometry
        view_shape, view_stride, view_offset = self.view_geometry
        result = grad.new_empty_strided(shape, stride).copy_(grad)
        part = result.as_strided(view_shape, view_stride, view_offset - base_offset)
        inner = self.fn.apply([part.clone()])
        if inner[0] is None:
            part.zero_()
        else:
            part.copy_(inner[0])
        return [result, *inner[1:]]

    def name(self):
        return "torch::autograd::CopySlices"

    def node_of_view(self):
        """A grad_fn for the changed view."""
        return AsStridedOfBase(self.view_metadata, self.view_geometry, self.base_geometry, (self, 0))

    def release(self):
        self.fn = None


def check_inplace(t):
    """Refuse in-place changes that would make gradients wrong. Called when gradients flow to or into `t`."""
    view = t._view
    if view is not None:
        if view.creation is not None:
            raise RuntimeError(forbidden_view(t, "is being"))
        if autograd_meta.tracks(t) and has_no_grad_fn(view.base):
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if autograd_meta.tracks(t) and has_no_grad_fn(t):
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def has_no_grad_fn(t):
    """Whether a tensor is a leaf as things stand: a view's grad_fn is not brought up to date first."""
    return t._meta is None or t._meta.grad_fn is None


_AMBIGUOUS = (" Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
              "moving both the view and the inplace either both inside the {0} block (if you don't want the inplace to "
              "be tracked) or both outside (if you want the inplace to be tracked).")
_WHY = {
    NO_GRAD: _AMBIGUOUS.format("no_grad"),
    INFERENCE: _AMBIGUOUS.format("inference_mode"),
    MULTI_OUTPUT: " This view is the output of a function that returns multiple views. Such functions do not allow the "
                  "output views to be modified inplace. You should replace the inplace operation by an out-of-place "
                  "one.",
    CUSTOM_FUNCTION: " This view was created inside a custom Function (or because an input was returned as-is) and the "
                     "autograd logic to handle view+inplace would override the custom backward associated with the "
                     "custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by "
                     "cloning the output of the custom Function.",
}


def forbidden_view(t, what):
    """PyTorch's words for a view that may not be modified; `what`: it "is being", or its base "has been"."""
    creation, meta = t._view.creation, t._meta
    maker = None if meta is None else meta.grad_fn
    is_output = maker is not None
    if is_output:
        which = f"Output {meta.output_nr} of {maker.operator_name()} is a view"
    if creation == INFERENCE:
        start, end = "A view was created in inference mode", " in normal mode."
    elif creation == NO_GRAD or not is_output:
        start = f"{which} of a view which was" if is_output else "A view was"
        start, end = start + " created in no_grad mode", " with grad mode enabled."
    else:
        start, end = which, "."
    return f"{start} and {what} modified inplace{end}{_WHY[creation]}"


def rebase_history(t, node, output_nr=0):
    """After an in-place operator with node `node`: `t` (and its base, if it is a view) now comes from there.

    Returns the CopySlices of the base, None if `t` is no view.
    """
    view = t._view
    if view is None:
        return renew_history(t, node, output_nr)
    base = view.base
    copy_slices = CopySlices(base, t, autograd_meta.gradient_source(base), node)
    renew_history(base, copy_slices)
    regenerate(t)
    return copy_slices


def renew_history(t, node, output_nr=0):
    """Make `t` an output of `node`. retain_grad follows the tensor's new value; other hooks stay with the old one."""
    meta = t._meta
    if meta is not None and meta.retains_grad:
        meta.grad_fn.own_hooks().retain_grad.pop(meta.output_nr, None)
        autograd_meta.keep_gradient_at(t, node, output_nr)
    autograd_meta.set_history(t, node, output_nr)


AsStridedOfBase.__name__ = "AsStridedBackward0"                     # as PyTorch calls it
