"""torch.autograd.graph: nodes and edges by name, and hooks on what is saved for backward."""
from ..dispatch.state import state
from .meta import gradient_edge
from .node import Node  # noqa: F401
from .tensor_fields import bump_version


class saved_tensors_hooks:
    """In the block, what is saved for backward is `pack(tensor)`, and `unpack(packed)` gives it back when needed.

    One pack per saved tensor in forward, one unpack per use. No version check: `unpack` answers for the value.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self):
        self._before = state.saved_tensors_hooks
        state.saved_tensors_hooks = self.hooks

    def __exit__(self, *exc):
        state.saved_tensors_hooks = self._before


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU, and bring them back to their device when needed."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu() if not t.is_cpu else t.clone()),
                         lambda packed: packed[1].to(packed[0]))


def get_gradient_edge(tensor):
    """(node, output_nr): where a gradient of the tensor goes. RuntimeError if none does."""
    edge = gradient_edge(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return edge


def increment_version(tensor):
    """Bump the version counter of a tensor (or tensors) changed outside of what autograd sees."""
    for t in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
        bump_version(t)
