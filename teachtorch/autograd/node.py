"""Nodes and edges: the dynamic graph.

A forward operator that must be differentiated leaves a `Node` behind. The rule that connects everything:

    output k of the forward operator  <->  input k of the backward node

so an edge is (node, input_nr): *which input* of the next node a gradient goes to. A tensor finds its edge in its
autograd meta: (grad_fn, output_nr), or (AccumulateGrad, 0) for a leaf.
"""
import itertools
import re
from collections import namedtuple

from ..core.hooks import RemovableHandle
from ..memory.streams import side_streams

# Later operators run first in backward; leaves' accumulators run as soon as they are ready.
next_sequence_nr = itertools.count().__next__
ACCUMULATE_GRAD_SEQUENCE_NR = 2 ** 64 - 1


SECOND_BACKWARD = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward.")


class GradientEdge(namedtuple("GradientEdge", ["node", "output_nr", "ownership_token"], defaults=[None])):
    """Where a gradient goes, in PyTorch's words: output `output_nr` of the forward operator of `node`.

    Serves in place of a tensor in autograd.grad and backward.
    """

    __slots__ = ()


class InputMetadata:
    """What the gradient for one input of a node must look like: the forward output's shape, dtype and device.

    `stream_id`: of an accelerator's tensor, the stream in which the forward operator ran; the node runs there too.
    """

    __slots__ = ("shape", "dtype", "device", "stream_id")

    def __init__(self, t):
        self.shape = t._shape
        self.dtype = t._dtype
        self.device = t._device
        self.stream_id = side_streams.id_for(t._device.type) if side_streams.are_used else 0

    def place(self):
        """(device type, stream) of an accelerator's tensor."""
        return self.device.type, self.stream_id

    def __repr__(self):
        return f"InputMetadata(shape={self.shape}, dtype={self.dtype}, device={self.device})"


class NodeHooks:
    """The hooks of one node, each kind in registration order."""

    __slots__ = ("tensor_pre", "retain_grad", "pre", "post")

    def __init__(self):
        self.tensor_pre = {}      # input_nr -> {id: hook(grad)}
        self.retain_grad = {}     # input_nr -> weak reference to the tensor that keeps its gradient
        self.pre = {}             # id -> hook(grad_outputs)
        self.post = {}            # id -> hook(grad_inputs, grad_outputs)


class Node:
    """One step of the backward program: from the gradients of an operator's outputs to those of its inputs.

    `next_edges`: one edge or None per differentiable forward input. `input_metadata`: one per forward output.
    """

    __slots__ = ("sources", "input_metadata", "sequence_nr", "hooks", "_metadata", "__weakref__")

    def __init__(self, next_edges=()):
        self.sources = next_edges
        self.input_metadata = []
        self.sequence_nr = next_sequence_nr()
        self.hooks = None
        self._metadata = None

    @property
    def next_edges(self):
        """The edges. A leaf stands in `sources` for its accumulator until somebody asks: many graphs never run.
        From then on `sources` holds the edges themselves."""
        sources = self.sources
        for source in sources:
            if source.__class__ is not tuple and source is not None:
                sources = self.sources = tuple([resolve_edge(source) for source in sources])
                break
        return sources

    def apply(self, grads):
        """From the list of gradients of the forward outputs (None: undefined) to a list with one per edge."""
        raise NotImplementedError

    def apply_towards(self, grads, is_wanted):
        """`apply`, for a pass that does not need all edges; `is_wanted(edge)` tells which. May leave out the others."""
        return self.apply(grads)

    def release(self):
        """Forget saved tensors; a second backward through them is an error."""

    # ---- what PyTorch shows of a node ---------------------------------------------------------------------

    def name(self):
        """The operator's name with "Backward0"."""
        return type(self).__name__

    def operator_name(self):
        """The name as messages have it: "Exp" for ExpBackward0, "Pow1" for PowBackward1."""
        return re.sub(r"Backward0?(?=\d*$)", "", self.name())

    @property
    def next_functions(self):
        """The edges as PyTorch shows them: ((node, input_nr), ...), (None, 0) where an input needs no gradient."""
        return tuple([(None, 0) if edge is None else edge for edge in self.next_edges])

    @property
    def metadata(self):
        """A dict for the user's own notes on this node."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def _input_metadata(self):
        return list(self.input_metadata)

    def _sequence_nr(self):
        return self.sequence_nr

    @property
    def requires_grad(self):
        return True

    def __call__(self, *grads):
        """What the node makes of these gradients: one gradient, or a tuple."""
        results = self.apply(list(grads))
        return results[0] if len(results) == 1 else tuple(results)

    def register_hook(self, hook):
        """Call hook(grad_inputs, grad_outputs) after this node ran; a tuple returned replaces grad_inputs."""
        return RemovableHandle.add(self.own_hooks().post, hook)

    def register_prehook(self, hook):
        """Call hook(grad_outputs) before this node runs; a tuple returned replaces them."""
        return RemovableHandle.add(self.own_hooks().pre, hook)

    def own_hooks(self):
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __repr__(self):
        return f"<{self.name().removeprefix('torch::autograd::')} object at {hex(id(self))}>"


def resolve_edge(source):
    """The edge of a source: itself, or that of a leaf's AccumulateGrad."""
    if source is None or source.__class__ is tuple:
        return source
    accumulator = source._meta.accumulator(source)
    return None if accumulator is None else (accumulator, 0)


class GraphRoot(Node):
    """Stands above several outputs given to one backward call, and hands each its starting gradient."""

    __slots__ = ("grads",)

    def __init__(self, edges, grads):
        super().__init__(edges)
        self.grads = grads

    def apply(self, grads):
        return self.grads
