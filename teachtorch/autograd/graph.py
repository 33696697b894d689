"""torch.autograd.graph: nodes and edges by name, and hooks on what is saved for backward."""
import threading
import weakref

from ..dispatch.state import state
from .engine import current
from .meta import gradient_edge
from .node import GradientEdge, Node  # noqa: F401 (torch.autograd.graph.Node)
from .tensor_fields import bump_version


class saved_tensors_hooks:
    """In the block, what is saved for backward is `pack(tensor)`, and `unpack(packed)` gives it back when needed.

    One pack per saved tensor in forward, one unpack per use. No version check: `unpack` answers for the value.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self):
        refuse_if_disabled()
        self._before = state.saved_tensors_hooks
        state.saved_tensors_hooks = self.hooks

    def __exit__(self, *exc):
        state.saved_tensors_hooks = self._before


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU, and bring them back to their device when needed."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu() if not t.is_cpu else t.clone()),
                         lambda packed: packed[1].to(packed[0]))


class _Disabled(threading.local):
    """Why hooks on saved tensors are refused in this thread; None: they are not."""

    message = None


_disabled = _Disabled()


def refuse_if_disabled():
    if _disabled.message is not None:
        raise RuntimeError(_disabled.message)


class disable_saved_tensors_hooks:
    """In the block, hooks on saved tensors are refused: RuntimeError with the given message."""

    def __init__(self, error_message):
        self.message = error_message

    def __enter__(self):
        if state.saved_tensors_hooks is not None:
            raise RuntimeError(self.message)
        self._before = _disabled.message
        _disabled.message = self.message

    def __exit__(self, *exc):
        _disabled.message = self._before


def get_gradient_edge(tensor):
    """The GradientEdge of a tensor: where a gradient of it goes. RuntimeError if none does."""
    edge = gradient_edge(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


def _get_grad_fn_or_grad_acc(t):
    """The node that a tensor's gradient goes to. AssertionError if there is none."""
    edge = t if isinstance(t, GradientEdge) else gradient_edge(t)
    if edge is None:
        raise AssertionError("Expected gradient function to be set")
    return edge[0]


class _Handles:
    """Several handles removed together."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call `fn` once per backward that reaches the tensors.

    mode "all": fn([grad, ...]) when all gradients that this backward computes are there, None for the others.
    mode "any": fn(grad) with the first. Returns a handle. ValueError for another mode.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        collector, watched = _AnyGradient(tensors, fn), [t for t in tensors if t.requires_grad]
    else:
        for t in tensors:
            _get_grad_fn_or_grad_acc(t)
        collector, watched = _AllGradients(tensors, fn), tensors
    return _Handles([t.register_hook(collector.hook_of(i)) for i, t in enumerate(watched)])


class _AnyGradient:
    def __init__(self, tensors, fn):
        self.fn = fn
        self.served = weakref.WeakSet()          # the backward passes that have called fn

    def hook_of(self, i):
        def hook(grad):
            if current.task not in self.served:
                self.served.add(current.task)
                self.fn(grad)
        return hook


class _AllGradients:
    def __init__(self, tensors, fn):
        self.fn = fn
        self.edges = [gradient_edge(t) for t in tensors]
        self.passes = weakref.WeakKeyDictionary()    # backward pass: [gradients so far, how many are missing]

    def hook_of(self, i):
        def hook(grad):
            task = current.task
            if task not in self.passes:
                self.passes[task] = [[None] * len(self.edges), sum(task.will_run(node) for node, _ in self.edges)]
            found = self.passes[task]
            found[0][i] = grad
            found[1] -= 1
            if not found[1]:
                self.fn(found[0])
        return hook


def increment_version(tensor):
    """Bump the version counter of a tensor (or tensors) changed outside of what autograd sees."""
    for t in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
        bump_version(t)
