"""A tensor's autograd fields, and its place in the graph."""
import weakref

from ..core import dtype as dt
from ..core.layout import contiguous_format
from ..tensor import entries_of
from ..dispatch.state import state
from . import views
from .accumulate import AccumulateGrad
from .node import resolve_edge


class AutogradMeta:
    """Made only for tensors that need it. The class attributes are what a new one starts with."""

    requires_grad = False
    grad_fn = None
    output_nr = 0               # which output of grad_fn this tensor is
    grad = None
    hooks = None                # of a leaf: {id: hook(grad)}
    post_accumulate_hooks = None
    retains_grad = False
    tangent = None              # forward mode
    _accumulator = None         # weak, since the accumulator holds the tensor
    follows_base = False        # of a view outside the graph: requires grad only because its base does

    def accumulator(self, leaf):
        """The AccumulateGrad of a leaf: the same one for as long as any graph holds it. None: gradients end here."""
        if self.follows_base:
            return None
        node = self._accumulator and self._accumulator()
        if node is None:
            node = AccumulateGrad(leaf)
            self._accumulator = weakref.ref(node)
            if self.hooks is not None:
                node.own_hooks().tensor_pre[0] = self.hooks
        return node


def meta_of(t):
    """The autograd meta of a tensor, made if it has none."""
    if t._meta is None:
        t._meta = AutogradMeta()
    return t._meta


def tracks(t):
    """Whether gradients flow to this tensor (what `t.requires_grad` shows)."""
    if t._view is not None:
        views.follow_base(t)
    meta = t._meta
    return meta is not None and meta.requires_grad


def grad_fn_of(t):
    """The node that made a tensor, None for a leaf; brought up to date if its base was changed in place."""
    if t._view is not None:
        views.refresh(t)
    return None if t._meta is None else t._meta.grad_fn


def gradient_source(t):
    """Where a gradient of `t` goes: (grad_fn, output_nr), `t` itself for a leaf, None if none flows."""
    if t._view is not None:
        views.refresh(t)
    meta = t._meta
    if meta is None or not meta.requires_grad:
        return None
    return t if meta.grad_fn is None else (meta.grad_fn, meta.output_nr)


def gradient_edge(t):
    """(node, input_nr) where a gradient of `t` goes, or None if none flows."""
    return resolve_edge(gradient_source(t))


def set_history(t, node, output_nr=0):
    """Make `t` output number `output_nr` of `node`."""
    meta = t._meta
    if meta is None:
        meta = t._meta = AutogradMeta()
    meta.requires_grad = True
    meta.grad_fn = node
    meta.output_nr = output_nr


def stand_for(t, accumulator):
    """Make `t` a leaf whose gradients go where another leaf's go."""
    meta = meta_of(t)
    meta.requires_grad = True
    meta._accumulator = lambda: accumulator


def set_requires_grad(t, value):
    """Turn gradients for a leaf on or off, with PyTorch's errors."""
    meta = t._meta
    if not value and meta is not None and meta.grad_fn is not None:
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed "
            "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        )
    if value and t._dtype.category != dt.FLOATING:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if value and t.is_inference() and not state.inference:
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    if value or meta is not None:
        meta = meta_of(t)
        meta.requires_grad, meta.follows_base = value, False


def kept_gradient(grad):
    """A copy of a gradient: of a sparse one its entries, which lie in no order."""
    return grad.clone() if entries_of(grad) is not None else grad.clone(memory_format=contiguous_format)


def keep_gradient_at(t, node, output_nr):
    """Make backward store what arrives at (node, output_nr) in t.grad. Weak, since the node may outlive t."""
    weak = weakref.ref(t)

    def retain(grad):
        tensor = weak()
        if tensor is not None and grad is not None:
            meta = tensor._meta
            meta.grad = kept_gradient(grad) if meta.grad is None else meta.grad + grad

    node.own_hooks().retain_grad[output_nr] = retain
